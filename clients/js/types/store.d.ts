export class Store {
    /** @param {string} scope whose records these are: the gateway's address and the client's id */
    constructor(scope: string);
    scope: string;
    opened: any;
    /**
     * Read a record, or undefined.
     * @param {string} name @returns {Promise<any>}
     */
    read(name: string): Promise<any>;
    /**
     * Write a record; it is on its way to the disk when this resolves.
     * @param {string} name @param {unknown} value
     */
    write(name: string, value: unknown): Promise<void>;
    /**
     * Write a record where there is none, and read the one that is there then: of several tabs at once one wins.
     * @param {string} name @param {unknown} value @returns {Promise<any>}
     */
    settle(name: string, value: unknown): Promise<any>;
    /**
     * Delete records.
     * @param {...string} names
     */
    remove(...names: string[]): Promise<void>;
    #private;
}
