/** Formats that count tokens, which providers do not bill. */
export const freeApis: ReadonlySet<string> = new Set(['count_tokens', 'input_tokens', 'gemini_count_tokens'])
