import { findNodeAtLocation, type Node } from 'jsonc-parser'
import { editConfig, type ConfigEdit } from './edit-config.ts'
import { collectFindings } from './findings.ts'
import { parseJsonTree } from './json-tree.ts'

/** What can be done to one provider. */
export type ProviderEdit = 'enable' | 'disable' | 'up' | 'down'

/** Which provider, and what. */
export interface ProviderEditOptions {
  /** Named in faults. */
  readonly file: string
  readonly id: string
  readonly edit: ProviderEdit
}

/**
 * Switches a provider on or off, or moves it by one place, in a configuration text; comments, order and indentation
 * stay. Pure. What is so already is left as it is. The result is not checked: that is `parseConfig`'s work.
 *
 * @returns `undefined` when no provider has this id
 * @throws {ConfigError} when the text is no JSON
 */
export function changeProvider(text: string, { file, id, edit }: ProviderEditOptions): string | undefined {
  const findings = collectFindings(file, text)
  const { root } = parseJsonTree(text, findings)
  findings.throwIfAny()
  const list = root === undefined ? undefined : findNodeAtLocation(root, ['providers'])
  const providers = list?.type === 'array' ? (list.children ?? []) : []
  const index = providers.findIndex((provider) => memberOf(provider, 'id') === id)
  const provider = providers[index]
  return provider === undefined ? undefined : editConfig(text, editsFor(edit, provider, index, providers.length))
}

function editsFor(edit: ProviderEdit, provider: Node, index: number, count: number): readonly ConfigEdit[] {
  const enabled = memberOf(provider, 'enabled') ?? true
  switch (edit) {
    case 'enable':
      return enabled === true ? [] : [setEnabled(index, true)]
    case 'disable':
      return enabled === false ? [] : [setEnabled(index, false)]
    case 'up':
      return index === 0 ? [] : [{ kind: 'move', path: ['providers'], from: index, to: index - 1 }]
    case 'down':
      return index === count - 1 ? [] : [{ kind: 'move', path: ['providers'], from: index, to: index + 1 }]
  }
}

function setEnabled(index: number, value: boolean): ConfigEdit {
  return { kind: 'set', path: ['providers', index, 'enabled'], value }
}

/** A member's value; objects and arrays are only themselves. */
function memberOf(object: Node, name: string): unknown {
  const node = object.type === 'object' ? findNodeAtLocation(object, [name]) : undefined
  const value: unknown = node?.type === 'object' || node?.type === 'array' ? node : node?.value
  return value
}
