import { buildInlines } from './build-inlines.ts'
import type { Definitions } from './definitions.ts'
import type { Inline } from './inline.ts'
import { readTokens } from './read-tokens.ts'

/** Reads running text, in linear time. Labels are looked up in the definitions. */
export function readInline(text: string, definitions: Definitions): readonly Inline[] {
  return buildInlines(readTokens(text, definitions))
}
