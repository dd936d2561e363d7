/** What is stored of responses. */
export class Responses extends Routes {
    /** @param {string} responseId */
    get(responseId: string): Promise<any>;
    /** @param {string} responseId */
    delete(responseId: string): Promise<any>;
    /**
     * The items that a response answered, newest first where `order` is left out.
     * @param {string} responseId
     * @param {{limit?: number, after?: string, order?: "asc" | "desc"}} [options]
     * @returns {Promise<{
     *   object: "list", data: any[], first_id: string | null, last_id: string | null, has_more: boolean,
     * }>}
     */
    inputItems(responseId: string, { limit, after, order }?: {
        limit?: number;
        after?: string;
        order?: "asc" | "desc";
    }): Promise<{
        object: "list";
        data: any[];
        first_id: string | null;
        last_id: string | null;
        has_more: boolean;
    }>;
}
import { Routes } from "./routes.js";
