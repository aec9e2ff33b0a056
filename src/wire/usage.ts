import type { JsonCursor } from './json-cursor.ts'
import { nameTable } from './json-cursor.ts'

/** Token counts of service.md 2.3. What a provider left out is absent. */
export interface Usage {
  readonly promptTokens: number | undefined
  readonly completionTokens: number | undefined
  readonly totalTokens: number | undefined
}

const usageNames = nameTable(['prompt_tokens', 'completion_tokens', 'total_tokens'])

/** Passes the value of a `usage` member. Undefined when it is not an object, or has none of the counts. */
export function readUsage(cursor: JsonCursor): Usage | undefined {
  if (cursor.peek() !== 'object') {
    cursor.skip()
    return undefined
  }
  const counts: (number | undefined)[] = [undefined, undefined, undefined]
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(usageNames)
    if (code !== -1 && cursor.peek() === 'number') {
      const count = cursor.number()
      if (Number.isFinite(count)) counts[code] = count
    } else cursor.skip()
  }
  const [promptTokens, completionTokens, totalTokens] = counts
  if (promptTokens === undefined && completionTokens === undefined && totalTokens === undefined) return undefined
  return { promptTokens, completionTokens, totalTokens }
}
