import type { JsonObject } from '../../base/json-value.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { objectOf, objectsOf, textOf } from '../exact-json.ts'

const shortMax = 40

/** Ids of calls in the form that the target takes, the same ones in calls and results. */
export function fitCallIds(messages: readonly JsonObject[], { callIds }: TargetProfile): readonly JsonObject[] {
  if (callIds === 'any') return messages
  const calls = messages.flatMap((message) => objectsOf(message['tool_calls']))
  const names = newCallIds(
    calls.map((call) => ({ id: call['id'], name: objectOf(call['function'])['name'] })),
    callIds,
  )
  if (names.size === 0) return messages
  const nameOf = (id: unknown): unknown => (typeof id === 'string' ? (names.get(id) ?? id) : id)
  return messages.map((message) => {
    const calls = objectsOf(message['tool_calls'])
    if (calls.length > 0) return { ...message, tool_calls: calls.map((call) => ({ ...call, id: nameOf(call['id']) })) }
    return 'tool_call_id' in message ? { ...message, tool_call_id: nameOf(message['tool_call_id']) } : message
  })
}

type CallIdForm = Exclude<TargetProfile['callIds'], 'any'>

/** New ids of calls by the old ones; none if all fit. */
export function newCallIds(
  calls: readonly { readonly id: unknown; readonly name: unknown }[],
  form: CallIdForm,
): ReadonlyMap<string, string> {
  const given = new Set(calls.flatMap(({ id }) => textOf(id) ?? []))
  const taken = new Set([...given].filter((id) => fits(id, form)))
  const names = new Map<string, string>()
  for (const [position, call] of calls.entries()) {
    const id = textOf(call.id)
    if (id === undefined || taken.has(id) || names.has(id)) continue
    const name = firstFree(taken, (attempt) => {
      if (form === 'kimi') return `functions.${textOf(call.name) ?? ''}:${position + attempt}`
      const digits = `${Bun.hash.wyhash(id, BigInt(attempt)).toString(36)}000000000`
      return form === 'letters9' ? digits.slice(0, 9) : `call_${digits}`
    })
    taken.add(name)
    names.set(id, name)
  }
  return names
}

function fits(id: string, form: CallIdForm): boolean {
  switch (form) {
    case 'short':
      return id.length <= shortMax
    case 'letters9':
      return /^[a-zA-Z0-9]{9}$/.test(id)
    case 'kimi':
      return /^functions\..+:\d+$/.test(id)
  }
}

/** The first id that is not taken. The same old one always gets the same, so that caches of prompts hold. */
function firstFree(taken: ReadonlySet<string>, idAt: (attempt: number) => string): string {
  for (let attempt = 0; ; attempt++) {
    const id = idAt(attempt)
    if (!taken.has(id)) return id
  }
}
