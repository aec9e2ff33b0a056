import type { JsonObject } from '../../base/json-value.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { objectOf, objectsOf, textOf } from '../exact-json.ts'

const shortMax = 40

/** Ids of calls in the form that the target takes, the same ones in calls and results. */
export function fitCallIds(messages: readonly JsonObject[], { callIds }: TargetProfile): readonly JsonObject[] {
  if (callIds === 'any') return messages
  const names = renamed(messages, callIds)
  if (names.size === 0) return messages
  const nameOf = (id: unknown): unknown => (typeof id === 'string' ? (names.get(id) ?? id) : id)
  return messages.map((message) => {
    const calls = objectsOf(message['tool_calls'])
    if (calls.length > 0) return { ...message, tool_calls: calls.map((call) => ({ ...call, id: nameOf(call['id']) })) }
    return 'tool_call_id' in message ? { ...message, tool_call_id: nameOf(message['tool_call_id']) } : message
  })
}

/** New ids by the old ones; none if all fit. */
function renamed(
  messages: readonly JsonObject[],
  form: Exclude<TargetProfile['callIds'], 'any'>,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  let count = 0
  for (const message of messages)
    for (const call of objectsOf(message['tool_calls'])) {
      const id = textOf(call['id'])
      const position = count++
      if (id === undefined || names.has(id)) continue
      const name = fits(id, form)
        ? id
        : made(id, form, taken, textOf(objectOf(call['function'])['name']) ?? '', position)
      taken.add(name)
      if (name !== id) names.set(id, name)
    }
  return names
}

function fits(id: string, form: Exclude<TargetProfile['callIds'], 'any'>): boolean {
  switch (form) {
    case 'short':
      return id.length <= shortMax
    case 'letters9':
      return /^[a-zA-Z0-9]{9}$/.test(id)
    case 'kimi':
      return /^functions\..+:\d+$/.test(id)
  }
}

/** An id that the same old one always gets, so that caches of prompts hold. */
function made(
  id: string,
  form: Exclude<TargetProfile['callIds'], 'any'>,
  taken: ReadonlySet<string>,
  name: string,
  position: number,
): string {
  if (form === 'kimi') return `functions.${name}:${position}`
  for (let seed = 0; ; seed++) {
    const digits = `${Bun.hash.wyhash(id, BigInt(seed)).toString(36)}000000000`
    const made = form === 'letters9' ? digits.slice(0, 9) : `call_${digits}`
    if (!taken.has(made)) return made
  }
}
