import type { SourceNode } from '../source-tree.ts'
import type { Reading } from './source.ts'

interface Settings {
  readonly router: readonly SourceNode[]
  readonly module: readonly SourceNode[]
}

const otherModel = 'another model answers under this name'

/** Reads fallbacks and aliases. `router_settings` hold before `litellm_settings`, where both have a list. */
export function readFallbacks(reading: Reading, { router, module }: Settings): void {
  const { findings, plan } = reading
  const groups = new Map(Array.from(plan.routes, ([name, models]) => [name, [...models]]))
  const kinds = [
    ['fallbacks', 'exact', otherModel],
    ['context_window_fallbacks', 'approximate', `after any failure, not only of the length; ${otherModel}`],
    ['content_policy_fallbacks', 'approximate', `after any failure, not only of the policy; ${otherModel}`],
  ] as const
  for (const [name, status, message] of kinds) {
    const lists = [...router, ...module].flatMap((node) => node.get(name) ?? [])
    for (const other of lists.slice(1))
      findings.note(other, 'unsupported', `not taken: those of ${lists[0]?.path ?? ''} hold, as in LiteLLM`)
    const used = lists[0]
    if (used !== undefined && name === 'content_policy_fallbacks') plan.isNextOnPolicy = true
    for (const entry of used?.items ?? [])
      for (const [from, to] of entry.members) addFallbacks(from, to, { reading, groups, status, message })
  }
  const defaults = [...router, ...module].flatMap((node) => node.get('default_fallbacks') ?? [])
  for (const node of defaults) {
    for (const from of groups.keys())
      addFallbacks(from, node, { reading, groups, status: 'approximate', message: `of each name; ${otherModel}` })
    findings.note(node, 'manual', 'a default for names that are not in the file')
  }
  for (const node of router) readAliases(node.get('model_group_alias'), reading)
}

interface Adding {
  readonly reading: Reading
  readonly groups: ReadonlyMap<string, readonly Parameters<Reading['plan']['add']>[0][]>
  readonly status: 'exact' | 'approximate'
  readonly message: string
}

function addFallbacks(
  from: string,
  to: SourceNode,
  { reading: { plan, findings }, groups, status, message }: Adding,
): void {
  if (!groups.has(from)) return findings.note(to, 'manual', `"${from}" is no model_name of the file that svc has`)
  for (const node of to.items.length === 0 ? [to] : to.items) {
    const models = groups.get(node.text ?? '')
    if (models === undefined) findings.note(node, 'manual', 'a fallback that is no model_name of the file that svc has')
    else {
      for (const model of models) plan.add(model, from)
      findings.note(node, status, message, models[0])
    }
  }
}

function readAliases(node: SourceNode | undefined, { plan, findings }: Reading): void {
  for (const [name, value] of node?.members ?? []) {
    const target = value.text ?? value.get('model')?.text
    const isKnown = target !== undefined && plan.routes.has(target) && name !== target
    if (!isKnown) {
      findings.note(value, 'manual', 'an alias of a name that svc does not have')
      continue
    }
    plan.aliases.set(name, target)
    findings.note(value.get('hidden'), 'approximate', 'svc lists it')
    findings.note(value, 'exact', undefined, plan.aliases)
  }
}
