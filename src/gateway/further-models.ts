import type { Access } from '../formats/access.ts'
import type { Ask } from '../formats/ask.ts'
import { parseJsonBytes } from '../formats/exact-json.ts'
import { modelNotAllowed } from './all-failed.ts'

/** Members by which OpenRouter, LiteLLM and others get the models to ask if the first one fails. */
const naming: ReadonlySet<string> = new Set([
  ...['models', 'fallbacks', 'fallback_models', 'model_list', 'context_window_fallbacks', 'content_policy_fallbacks'],
])

/**
 * Checks models that a request names beside its own: the provider may answer with them.
 *
 * @throws {WireError} 403 when the caller may not use one of them
 */
export function checkFurtherModels(access: Access, { body, members }: Ask): void {
  for (const { name, valueStart, end } of members) {
    if (!naming.has(name)) continue
    const refused = textsIn(parseJsonBytes(body.subarray(valueStart, end))).find((model) => !access.mayUseModel(model))
    if (refused !== undefined) throw modelNotAllowed(refused)
  }
}

/** All texts of a value, and names of its members, which may be models, too. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [...(Array.isArray(value) ? [] : [name]), ...textsIn(inner)])
}
