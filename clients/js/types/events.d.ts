/**
 * Read an event stream: `{data}` for each event, `{comment}` for each comment, as they come.
 * @param {AsyncIterable<string>} chunks @returns {AsyncGenerator<{data?: string, comment?: string}>}
 */
export function readEvents(chunks: AsyncIterable<string>): AsyncGenerator<{
    data?: string;
    comment?: string;
}>;
