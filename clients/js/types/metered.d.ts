/** @import {Receipt} from "./receipts.js" */
/**
 * @typedef {object} CallOptions
 * @property {number} maxCostMicrousd the most that the call may cost
 * @property {string} [idempotencyKey] one for one logical call, the same on retries; a new one where left out. Give
 *   your own where a call must not be paid twice beyond this page's life
 * @property {AbortSignal} [signal]
 * @property {number} [retries] how often a call is sent again after a failure that passes; 3 where left out
 */
/**
 * @template [T=any]
 * @typedef {{data: T, receipt: Receipt | null}} Answer
 */
/**
 * @typedef {object} Question
 * @property {"noul" | "choice" | "score"} type
 * @property {string} instructions
 * @property {Record<string, string>} [criteria] a description by label; a noul's, "true" and "false", may be left out,
 *   a score's labels are numbers
 */
/**
 * @typedef {object} JudgementRequest
 * @property {string} [model] the default text backend where left out
 * @property {string | Record<string, string>} state
 * @property {Record<string, Question>} questions
 * @property {string[]} [images] at most four https or data URLs, where the backend takes images
 * @property {boolean} [allow_fallback]
 */
/**
 * @typedef {object} Judgement
 * @property {string} id
 * @property {string} model `<alias>/<version>` of the backend that answered: thresholds belong to it, and to no other
 * @property {Record<string, {
 *   type: Question["type"], answer: boolean | string | number, probabilities: Record<string, number>,
 * }>} answers
 * @property {{from: string, to: string, reason: "overloaded"} | null} fallback
 * @property {{input_tokens: number | null}} usage
 * @property {number} created
 */
/**
 * Send a metered call until an answer is final. Throws GatewayError for a refusal.
 * @param {import("./caller.js").Caller} caller
 * @param {string} path
 * @param {object | FormData} body
 * @param {CallOptions} options
 * @returns {Promise<{response: Response, idempotencyKey: string}>}
 */
export function send(caller: import("./caller.js").Caller, path: string, body: object | FormData, { maxCostMicrousd, idempotencyKey, signal, retries }: CallOptions): Promise<{
    response: Response;
    idempotencyKey: string;
}>;
export type CallOptions = {
    /**
     * the most that the call may cost
     */
    maxCostMicrousd: number;
    /**
     * one for one logical call, the same on retries; a new one where left out. Give
     * your own where a call must not be paid twice beyond this page's life
     */
    idempotencyKey?: string | undefined;
    signal?: AbortSignal | undefined;
    /**
     * how often a call is sent again after a failure that passes; 3 where left out
     */
    retries?: number | undefined;
};
export type Answer<T = any> = {
    data: T;
    receipt: Receipt | null;
};
export type Question = {
    type: "noul" | "choice" | "score";
    instructions: string;
    /**
     * a description by label; a noul's, "true" and "false", may be left out,
     * a score's labels are numbers
     */
    criteria?: Record<string, string> | undefined;
};
export type JudgementRequest = {
    /**
     * the default text backend where left out
     */
    model?: string | undefined;
    state: string | Record<string, string>;
    questions: Record<string, Question>;
    /**
     * at most four https or data URLs, where the backend takes images
     */
    images?: string[] | undefined;
    allow_fallback?: boolean | undefined;
};
export type Judgement = {
    id: string;
    /**
     * `<alias>/<version>` of the backend that answered: thresholds belong to it, and to no other
     */
    model: string;
    answers: Record<string, {
        type: Question["type"];
        answer: boolean | string | number;
        probabilities: Record<string, number>;
    }>;
    fallback: {
        from: string;
        to: string;
        reason: "overloaded";
    } | null;
    usage: {
        input_tokens: number | null;
    };
    created: number;
};
import type { Receipt } from "./receipts.js";
