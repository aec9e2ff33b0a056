import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser/lib/esm/main.js'
import { isRecord } from '../../base/json-value.ts'
import { collectFindings } from '../file/fault-lines.ts'
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
 * Adds a provider, after the others unless a place is named. The result is not checked; `parseConfig` does that.
 *
 * @param to the place, from 0
 * @returns `undefined` when a provider has this id already
 * @throws {ConfigError} when the text is not JSON
 */
export function addProvider(
  text: string,
  file: string,
  entry: { readonly id: string },
  to?: number,
): string | undefined {
  const providers = providersIn(text, file)
  const last = providers.length
  if (providers.some((provider) => memberOf(provider, 'id') === entry.id)) return undefined
  return editConfig(text, [
    { kind: 'insert', path: ['providers', -1], value: entry },
    ...(to === undefined || to >= last ? [] : moved(last, to)),
  ])
}

/** New values of members. Absent members stay; `undefined` removes the member. */
export interface ProviderMembers {
  readonly base_url?: string
  readonly api_key?: string | undefined
  /** Names by which the provider is asked. Items of the present list that name them stay as they are. */
  readonly models?: readonly string[] | undefined
  readonly timeouts?: Readonly<Record<string, number>> | undefined
  readonly price?: 0 | { readonly input: number; readonly output: number }
}

/**
 * Changes members of a provider. Other members, and comments, stay. The result is not checked; `parseConfig` does that.
 *
 * @returns `undefined` when no provider has this id
 * @throws {ConfigError} when the text is not JSON
 */
export function setMembers(
  text: string,
  { file, id }: Pick<ProviderEditOptions, 'file' | 'id'>,
  members: ProviderMembers,
): string | undefined {
  const providers = providersIn(text, file)
  const index = providers.findIndex((provider) => memberOf(provider, 'id') === id)
  const provider = providers[index]
  if (provider === undefined) return undefined
  const path = ['providers', index]
  const edits = Object.entries(members).flatMap(([name, value]): readonly ConfigEdit[] => {
    const present = findNodeAtLocation(provider, [name])
    const member = [...path, name]
    if (value === undefined) return present === undefined ? [] : [{ kind: 'remove', path: member }]
    if (Array.isArray(value) && present?.type === 'array') return listEdits(present, member, value)
    return present?.value === value ? [] : [{ kind: 'set', path: member, value }]
  })
  return editConfig(text, edits)
}

/** Removes items of models that are not wanted, and appends those that are missing. */
function listEdits(list: Node, path: (string | number)[], wanted: readonly string[]): readonly ConfigEdit[] {
  const names = (list.children ?? []).map(modelName)
  const kept = names.filter((name) => wanted.includes(name))
  // A list without items is written anew: nothing of it stays.
  if (kept.length === 0) return [{ kind: 'set', path, value: wanted }]
  return [
    ...names
      .map((name, index) => ({ name, index }))
      .filter(({ name }) => !wanted.includes(name))
      .toReversed()
      .map(({ index }): ConfigEdit => ({ kind: 'remove', path: [...path, index] })),
    ...wanted
      .filter((name) => !names.includes(name))
      .map((value): ConfigEdit => ({ kind: 'insert', path: [...path, -1], value })),
  ]
}

/** The name by which an item of `models` is asked for at its provider. */
function modelName(item: Node): string {
  return String(item.type === 'object' ? (memberOf(item, 'upstream') ?? memberOf(item, 'name')) : item.value)
}

/**
 * The entry of a provider as it is in the text, not checked.
 *
 * @returns `undefined` when no provider has this id
 * @throws {ConfigError} when the text is not JSON
 */
export function providerIn(text: string, file: string, id: string): Readonly<Record<string, unknown>> | undefined {
  const provider = providersIn(text, file).find((each) => memberOf(each, 'id') === id)
  const value: unknown = provider === undefined ? undefined : getNodeValue(provider)
  return isRecord(value) ? value : undefined
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
