import type { JsonObject } from '../base/json-value.ts'
import type { FunctionTool } from './conversation.ts'
import { objectOf, textOf } from './exact-json.ts'

/** Arguments of the function in place of a custom tool. */
const parameters = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/**
 * The function in place of a custom tool, whose input is one string. `string-input.ts` reads it out of answers.
 *
 * @param declared `description` and `format`; a grammar stands in the format itself, or in its member `grammar`
 */
export function functionOfCustom(name: string, declared: JsonObject): FunctionTool {
  const { description, format } = declared
  return {
    name,
    description: describe(textOf(description), objectOf(format)),
    parameters,
    isStrict: false,
    cacheControl: undefined,
  }
}

/** The description of a custom tool, with the grammar of its input. */
function describe(description: string | undefined, { type, grammar, ...flat }: JsonObject): string {
  const texts = [description, "Call it with the whole input as the string 'input'."]
  if (type === 'grammar') {
    const { syntax, definition } = { ...flat, ...objectOf(grammar) }
    texts.push(`The input must match this ${textOf(syntax) ?? ''} grammar:\n${textOf(definition) ?? ''}`)
  }
  return texts.filter((text) => text !== undefined && text !== '').join('\n\n')
}
