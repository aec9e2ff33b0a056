import { joinPath } from '../../shapes/node.ts'
import { ConfigError } from '../config.ts'
import { collectFindings } from '../file/fault-lines.ts'
import { FileNode, parseJsonTree } from '../file/json-tree.ts'
import { configBytesMax, tooLarge } from '../file/parse-config.ts'
import { SourceNode, sourceTree } from './source-tree.ts'

/** How a source is written. YAML contains JSON. */
export type SourceSyntax = 'json' | 'yaml' | 'variables'

/**
 * Reads a file that is imported: at most 1 MiB, without NUL.
 *
 * @throws {ConfigError} with the line of what cannot be read
 */
export async function readSource(text: string, file: string, syntax: SourceSyntax): Promise<SourceNode> {
  if (Buffer.byteLength(text) > configBytesMax) throw new ConfigError([tooLarge(file, Buffer.byteLength(text))])
  const findings = collectFindings(file, text)
  const nul = text.indexOf('\0')
  if (nul !== -1) findings.add({ offset: nul, path: '' }, 'a NUL character', 'text')
  findings.throwIfAny()
  const isJson = /^\uFEFF?(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*[{[]/.test(text)
  if (syntax === 'variables' && !isJson) return variablesTree(text)
  if (syntax === 'yaml') return (await import('./yaml-tree.ts')).yamlTree(text, file)
  const { root } = parseJsonTree(text, findings)
  findings.throwIfAny()
  if (root === undefined) throw findings.toError()
  const tree = sourceTree(
    new FileNode(root),
    (offset) => findings.lineOf(offset),
    (at, name) => findings.add(at, `a second "${name}"`, 'each name once'),
  )
  findings.throwIfAny()
  return tree
}

/** Lines of `NAME=value`, as in files of Docker; `export` and quotes are removed. Other lines count for nothing. */
function variablesTree(text: string): SourceNode {
  const root = new SourceNode({ kind: 'object', path: '', line: 1 })
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [, name, value = ''] = /^\s*(?:export\s+|-\s+)?["']?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined) continue
    const bare = value.replace(/^(["'])(.*)\1$/, '$2')
    root.members.set(name, new SourceNode({ kind: 'string', value: bare, path: joinPath('', name), line: index + 1 }))
  }
  return root
}
