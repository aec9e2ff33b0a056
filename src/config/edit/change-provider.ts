import { findNodeAtLocation, type Node } from 'jsonc-parser/lib/esm/main.js'
import { collectFindings } from '../file/findings.ts'
import { parseJsonTree } from '../file/json-tree.ts'
import { editConfig, type ConfigEdit } from './edit-config.ts'

/** A change to one provider. */
export type ProviderEdit = 'enable' | 'disable' | 'up' | 'down'

/** Options of {@link changeProvider}. */
export interface ProviderEditOptions {
  /** File name for faults. */
  readonly file: string
  readonly id: string
  readonly edit: ProviderEdit
}

/**
 * Enables, disables or moves a provider in a configuration text. Comments, order and indentation stay. A change that is
 * already made leaves the text unchanged. The result is not checked; `parseConfig` does that.
 *
 * @returns `undefined` when no provider has this id
 * @throws {ConfigError} when the text is not JSON
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

/** A member's value. For objects and arrays, which equal no other value, the node itself. */
function memberOf(object: Node, name: string): unknown {
  const node = object.type === 'object' ? findNodeAtLocation(object, [name]) : undefined
  const value: unknown = node?.type === 'object' || node?.type === 'array' ? node : node?.value
  return value
}
