export class Account {
    /** @param {Caller} caller */
    constructor(caller: Caller);
    /** @private */
    private caller;
    /** @readonly */
    readonly organizations: Organizations;
    /** @readonly */
    readonly responses: Responses;
    /** @readonly */
    readonly projects: Projects;
    /** @readonly */
    readonly sandbox: Sandbox;
    /** @readonly */
    readonly ci: CI;
    /** @readonly */
    readonly evolution: Evolution;
    /**
     * Send any request to the gateway, with token and proof; answers as the browser's own `fetch` does.
     * @param {string} path @param {RequestInit} [init] @returns {Promise<Response>}
     */
    fetch(path: string, init?: RequestInit): Promise<Response>;
    /**
     * Tell who the token speaks for, and what it may do.
     * @returns {Promise<AccountView>}
     */
    account(): Promise<AccountView>;
    /**
     * List the enabled models with their prices; `authorized` tells whether this token may use one.
     * @returns {Promise<Model[]>}
     */
    models(): Promise<Model[]>;
    /** @param {string} id @returns {Promise<Model>} */
    model(id: string): Promise<Model>;
    /**
     * Give the wallet in micro-USD: balance, credits, held, available, debt.
     * @returns {Promise<Wallet>}
     */
    wallet(): Promise<Wallet>;
    /**
     * List the latest usage records, newest first; `limit` is 1 to 100.
     * @param {{limit?: number}} [options] @returns {Promise<UsageRecord[]>}
     */
    usage({ limit }?: {
        limit?: number;
    }): Promise<UsageRecord[]>;
    /**
     * Start a payment and give the address where the person confirms it.
     * @param {{amountMicros: number, idempotencyKey?: string}} body @returns {Promise<Checkout>}
     */
    checkout({ amountMicros, idempotencyKey }: {
        amountMicros: number;
        idempotencyKey?: string;
    }): Promise<Checkout>;
    /**
     * Get the 32 bytes that an account's devices share, made at the first request; `kid` names them. They travel encrypted.
     */
    accountKey(): Promise<{
        kid: string;
        key: Uint8Array;
    }>;
    /**
     * Ask for a chat completion, whole: `{data, receipt}`.
     * @param {object} body @param {CallOptions} options
     */
    chat(body: object, options: metered.CallOptions): Promise<metered.Answer<any>>;
    /**
     * Ask for a chat completion as a stream.
     * @param {object} body @param {CallOptions} options
     */
    chatStream(body: object, options: metered.CallOptions): Promise<Stream>;
    /**
     * Ask for a response, whole: `{data, receipt}`; `responses` reads and deletes what is stored of it.
     * @param {object} body @param {CallOptions} options
     */
    respond(body: object, options: metered.CallOptions): Promise<metered.Answer<any>>;
    /**
     * Ask for a response as a stream.
     * @param {object} body @param {CallOptions} options
     */
    respondStream(body: object, options: metered.CallOptions): Promise<Stream>;
    /**
     * Ask for embeddings: `{data, receipt}`.
     * @param {object} body @param {CallOptions} options
     */
    embeddings(body: object, options: metered.CallOptions): Promise<metered.Answer<any>>;
    /**
     * Ask for embeddings of chunks in the context of their documents: `{data, receipt}`.
     * @param {object} body @param {CallOptions} options
     */
    contextualEmbeddings(body: object, options: metered.CallOptions): Promise<metered.Answer<any>>;
    /**
     * Have documents scored by late interaction: `{data, receipt}`.
     * @param {object} body @param {CallOptions} options
     */
    lateInteraction(body: object, options: metered.CallOptions): Promise<metered.Answer<any>>;
    /**
     * Ask for images, as base64: `{data, receipt}`.
     * @param {object} body @param {CallOptions} options
     */
    images(body: object, options: metered.CallOptions): Promise<metered.Answer<any>>;
    /**
     * Ask for an image as a stream: partial images where `partial_images` says so, then the image.
     * @param {object} body @param {CallOptions} options
     */
    imageStream(body: object, options: metered.CallOptions): Promise<Stream>;
    /**
     * Ask for documents in the order of their relevance to a query: `{data, receipt}`.
     * @param {object} body @param {CallOptions} options
     */
    rerank(body: object, options: metered.CallOptions): Promise<metered.Answer<any>>;
    /**
     * Have a text spoken: `{data, receipt}` with the sound as a Blob. The receipt has no charge; the usage record has it.
     * Throws GatewayUnreachable where the sound breaks off.
     * @param {object} body @param {CallOptions} options @returns {Promise<Answer<Blob>>}
     */
    speech(body: object, options: metered.CallOptions): Promise<metered.Answer<Blob>>;
    /**
     * Have a file transcribed, a FormData with `file` and `model`: `{data, receipt}`.
     * @param {FormData} form @param {CallOptions} options
     */
    transcribe(form: FormData, options: metered.CallOptions): Promise<metered.Answer<any>>;
    /**
     * Have a file translated into English, likewise.
     * @param {FormData} form @param {CallOptions} options
     */
    translate(form: FormData, options: metered.CallOptions): Promise<metered.Answer<any>>;
    /**
     * Ask typed questions about a state: `{data, receipt}`. `data.model` is the identity that thresholds belong to. Needs
     * `judgement:evaluate`.
     * @param {JudgementRequest} body @param {CallOptions} options @returns {Promise<Answer<Judgement>>}
     */
    judge(body: metered.JudgementRequest, options: metered.CallOptions): Promise<metered.Answer<metered.Judgement>>;
    /**
     * Make a call of any metered route whose answer is JSON.
     * @template [T=any]
     * @param {string} path
     * @param {object | FormData} body
     * @param {CallOptions} options
     * @returns {Promise<Answer<T>>}
     */
    post<T = any>(path: string, body: object | FormData, options: metered.CallOptions): Promise<metered.Answer<T>>;
    /**
     * Make a call of any metered route that streams.
     * @param {string} path @param {object} body @param {CallOptions} options
     */
    stream(path: string, body: object, options: metered.CallOptions): Promise<Stream>;
    /**
     * Open a live session over a WebSocket: hear its events with `for await`, say something with `send`. It is held for
     * its maximum, and what it used is charged once it is over. It renews its own token.
     * @param {import("./realtime.js").RealtimeOptions} options
     */
    connectRealtime(options: import("./realtime.js").RealtimeOptions): Promise<RealtimeSession>;
    /**
     * Act for an organization: its wallet pays, its seats count. The token is renewed as long as access lasts.
     * @param {string} orgId @param {{product?: string}} [options] @returns {Account}
     */
    inOrganization(orgId: string, { product }?: {
        product?: string;
    }): Account;
}
export type AccountView = {
    did: string;
    displayName: string | null;
    createdAt: string;
    clientId: string;
    product: string | null;
    scopes: string[];
    organization: {
        orgId: string;
        membershipId: string;
        role: Role;
    } | null;
    tokenExpiresAt: string;
};
export type Model = {
    id: string;
    routes: string[];
    pricing: Record<string, unknown>;
    authorized: boolean;
};
export type Wallet = {
    currency: string;
    balanceMicrousd: number;
    creditsMicrousd: number;
    heldMicrousd: number;
    availableMicrousd: number;
    debtMicrousd: number;
    credits: {
        creditId: string;
        product: string | null;
        grantedMicrousd: number;
        remainingMicrousd: number;
        expiresAt: string | null;
    }[];
};
export type UsageRecord = {
    usageId: string;
    requestId: string;
    route: string;
    model: string;
    product: string | null;
    orgId: string | null;
    membershipId: string | null;
    status: "settled" | "held" | "released" | "reconciling";
    inputTokens: number | null;
    outputTokens: number | null;
    heldMicrousd: number;
    chargedMicrousd: number;
    createdAt: string;
    settledAt: string | null;
    idempotencyKey: string | null;
};
export type Checkout = {
    provider: string;
    transactionId: string;
    url: string;
};
import { Organizations } from "./organizations.js";
import { Responses } from "./responses.js";
import { Projects } from "./projects.js";
import { Sandbox } from "./sandbox.js";
import { CI } from "./ci.js";
import { Evolution } from "./evolution.js";
import * as metered from "./metered.js";
import { Stream } from "./stream.js";
import { RealtimeSession } from "./realtime.js";
import { Caller } from "./caller.js";
import type { Role } from "./organizations.js";
