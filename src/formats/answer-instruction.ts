/** Asks a model for an answer of JSON, where its provider takes no such setting. @param schema absent: any object */
export function answerInstruction(schema: unknown): string {
  return schema === undefined
    ? 'Answer with one JSON object and nothing else.'
    : `Answer with JSON that matches this JSON Schema, and nothing else: ${JSON.stringify(schema)}`
}
