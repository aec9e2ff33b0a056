import { findNodeAtLocation, type Node } from 'jsonc-parser/lib/esm/main.js'
import { collectFindings } from '../file/findings.ts'
import { parseJsonTree } from '../file/json-tree.ts'
import { editConfig, type ConfigEdit } from './edit-config.ts'

/** A change to one provider. */
export type ProviderEdit =
  | 'enable'
  | 'disable'
  | 'up'
  | 'down'
  | 'remove'
  /** To this place, from 0; beyond the end: the last. */
  | { readonly move: number }

/** Options of {@link changeProvider}. */
export interface ProviderEditOptions {
  /** File name for faults. */
  readonly file: string
  readonly id: string
  readonly edit: ProviderEdit
}

/**
 * Enables, disables, moves or removes a provider in a configuration text. Comments, order and indentation stay. A
 * change that is already made leaves the text unchanged. The result is not checked; `parseConfig` does that.
 *
 * @returns `undefined` when no provider has this id
 * @throws {ConfigError} when the text is not JSON
 */
export function changeProvider(text: string, { file, id, edit }: ProviderEditOptions): string | undefined {
  const providers = providersIn(text, file)
  const index = providers.findIndex((provider) => memberOf(provider, 'id') === id)
  const provider = providers[index]
  return provider === undefined ? undefined : editConfig(text, editsFor(edit, provider, index, providers.length))
}

/**
 * Adds a provider after the others. The result is not checked; `parseConfig` does that.
 *
 * @returns `undefined` when a provider has this id already
 * @throws {ConfigError} when the text is not JSON
 */
export function addProvider(text: string, file: string, entry: { readonly id: string }): string | undefined {
  if (providersIn(text, file).some((provider) => memberOf(provider, 'id') === entry.id)) return undefined
  return editConfig(text, [{ kind: 'insert', path: ['providers', -1], value: entry }])
}

function providersIn(text: string, file: string): readonly Node[] {
  const findings = collectFindings(file, text)
  const { root } = parseJsonTree(text, findings)
  findings.throwIfAny()
  const list = root === undefined ? undefined : findNodeAtLocation(root, ['providers'])
  return list?.type === 'array' ? (list.children ?? []) : []
}

function editsFor(edit: ProviderEdit, provider: Node, index: number, count: number): readonly ConfigEdit[] {
  const enabled = memberOf(provider, 'enabled') ?? true
  if (typeof edit !== 'string') return moved(index, Math.min(edit.move, count - 1))
  switch (edit) {
    case 'enable':
      return enabled === true ? [] : [setEnabled(index, true)]
    case 'disable':
      return enabled === false ? [] : [setEnabled(index, false)]
    case 'up':
      return moved(index, Math.max(index - 1, 0))
    case 'down':
      return moved(index, Math.min(index + 1, count - 1))
    case 'remove':
      return [{ kind: 'remove', path: ['providers', index] }]
  }
}

function moved(from: number, to: number): readonly ConfigEdit[] {
  return from === to ? [] : [{ kind: 'move', path: ['providers'], from, to }]
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
