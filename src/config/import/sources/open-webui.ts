import { baseUrlOf, hostId, isModelName, variableOf } from '../planner.ts'
import { innerTree, type SourceNode } from '../source-tree.ts'
import { keyFrom, textAt } from './read-values.ts'
import type { ImportSource, Reading } from './source.ts'

/** The variables of Open WebUI, or its configuration in JSON, which has the same names in small letters. */
export const openWebui: ImportSource = {
  name: 'open-webui',
  syntax: 'variables',
  looksLike: (root) => listsOf(root).urls !== undefined,
  read(reading) {
    const { root, findings } = reading
    const { urls, keys, configs } = listsOf(root)
    const addresses = textsOf(urls)
    const secrets = textsOf(keys)
    const settings = settingsOf(configs, findings)
    addresses.forEach((address, index) => {
      const entry = settings?.get(String(index)) ?? settings?.get(address)
      readConnection({ address, key: secrets[index], entry }, reading)
    })
    findings.note(urls, 'exact')
    findings.note(keys, 'approximate', 'keys are not written into providers.json: set the variables')
    findings.note(configs, 'unsupported', 'svc has no such setting')
    findings.note(root.get('ENABLE_OPENAI_API') ?? root.at('openai', 'enable'), 'exact')
    const ollama = root.get('OLLAMA_BASE_URL') ?? root.get('OLLAMA_BASE_URLS')
    for (const address of textsOf(ollama))
      readConnection({ address: `${address.replace(/\/+$/, '')}/v1`, key: undefined, entry: undefined }, reading)
    findings.note(ollama, 'exact')
    for (const [name, node] of root.members)
      if (node.kind === 'string') findings.note(node, 'unsupported', `${name} is of Open WebUI itself`)
  },
}

function listsOf(root: SourceNode) {
  const inner = root.get('openai')
  const of = (name: string) => root.get(`OPENAI_${name}`) ?? inner?.get(name.toLowerCase())
  return {
    urls: of('API_BASE_URLS') ?? of('API_BASE_URL'),
    keys: of('API_KEYS') ?? of('API_KEY'),
    configs: of('API_CONFIGS'),
  }
}

/** The texts of a list, or of a text with semicolons. */
function textsOf(node: SourceNode | undefined): readonly string[] {
  if (node?.kind === 'array') return node.items.map(({ text = '' }) => text)
  return node?.text === undefined ? [] : node.text.split(';').map((each) => each.trim())
}

function settingsOf(node: SourceNode | undefined, findings: Reading['findings']): SourceNode | undefined {
  if (node === undefined || node.kind === 'object') return node
  try {
    const tree = innerTree(node, JSON.parse(node.text ?? '{}'))
    findings.note(node, 'exact', 'prefixes and models of connections')
    return tree
  } catch {
    findings.note(node, 'manual', 'no object of JSON')
    return undefined
  }
}

interface Connection {
  readonly address: string
  readonly key: string | undefined
  readonly entry: SourceNode | undefined
}

function readConnection({ address, key, entry }: Connection, { findings, plan }: Reading): void {
  const baseUrl = baseUrlOf(address)
  if (baseUrl === undefined) return
  const id = hostId(baseUrl)
  const isOff = entry?.get('enable')?.value === false
  const account = plan.account({
    ...{ id, baseUrl, key: keyFrom(key, variableOf({ id })) },
    enabled: isOff ? false : undefined,
  })
  const models = (entry?.get('model_ids')?.items ?? []).flatMap(({ text }) => (isModelName(text) ? [text] : []))
  const prefix = textAt(entry, 'prefix_id')
  const beginning = prefix === undefined ? '' : `${prefix}.`
  for (const name of models) plan.add({ account, name: beginning + name, upstream: name })
  if (models.length === 0) {
    plan.addOpen(account)
    findings.note(entry?.get('prefix_id'), 'manual', 'a prefix of all models: list them, as "prefix.model"', account)
  }
  for (const name of ['enable', 'model_ids', 'prefix_id']) findings.note(entry?.get(name), 'exact', undefined, account)
  findings.note(entry?.get('connection_type'), 'exact', 'svc sees it by the address')
}
