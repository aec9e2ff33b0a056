import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const examples = join(import.meta.dir, '..', '..', 'examples')

/**
 * A file of examples/ with names, ports and paths replaced.
 *
 * @throws when it lacks one of them
 */
export function exampleWith(file: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce(
    (text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
      return text.replaceAll(from, to)
    },
    readFileSync(join(examples, file), 'utf8'),
  )
}

/**
 * Writes the configuration of an nginx that serves one site from a folder.
 *
 * @param more further directives of its `http` block
 * @returns arguments that start it in the foreground
 */
export function nginxOf(folder: string, site: string, more = ''): readonly string[] {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder};`)
    .join(' ')
  const root = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(join(folder, 'svc.conf'), site)
  writeFileSync(
    join(folder, 'main.conf'),
    `${root} daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {} ` +
      `http { ${more} ${kinds} include ${folder}/svc.conf; }`,
  )
  return ['-c', join(folder, 'main.conf'), '-e', join(folder, 'error.log')]
}
