import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brands } from '../src/config/catalogue.ts'
import { profileMember } from '../src/config/file/read-profile.ts'
import { knownProfiles, type ProfileEntry } from '../src/profiles/known-profiles.ts'
import { profileFields, type FieldForm } from '../src/profiles/profile.ts'
import { wordsOf } from './profile-words.ts'
import { withSection, writeFiles, type WrittenFile } from './write-section.ts'

/**
 * `npm run profiles`: writes the table of `src/profiles/known-profiles.ts`, and the fields of
 * `src/profiles/profile.ts`, into docs/contributing/habits.md.
 */

export const profileLists: readonly WrittenFile[] = [
  {
    file: 'docs/contributing/habits.md',
    updated: (text) => withSection(withSection(text, 'known-profiles', knownTables()), 'profile-fields', fieldTable()),
  },
]

/** Doc comments of the fields, in one line each. */
export function fieldMeanings(): ReadonlyMap<string, string> {
  const source = readFileSync(join(import.meta.dir, '..', 'src/profiles/profile.ts'), 'utf8')
  const found = source.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\n {2}readonly (\w+):/g)
  return new Map(
    Array.from(found, ([, comment = '', name = '']) => [
      name,
      comment
        .replaceAll(/\s*\n\s*\*?\s*/g, ' ')
        .replaceAll(/\{@link (\w+)\}/g, (_, field: string) => `\`${profileMember(field)}\``)
        // An owner leaves the field out.
        .replace('`undefined`', 'not given')
        .trim(),
    ]),
  )
}

function fieldTable(): string {
  const meanings = fieldMeanings()
  const rows = Object.entries(profileFields).map(
    ([name, { form }]) => `| \`${profileMember(name)}\` | ${valuesIn(form)} | ${meanings.get(name) ?? ''} |`,
  )
  return ['| Field | Values | Meaning |', '|---|---|---|', ...rows].join('\n')
}

function valuesIn(form: FieldForm): string {
  switch (form.kind) {
    case 'one':
      return form.values.some((value) => typeof value === 'boolean') ? 'boolean' : codes(form.values)
    case 'list':
      return `array of ${codes(form.values)}`
    case 'count':
      return 'integer from 0'
    case 'names':
      return 'array of names'
    case 'renames':
      return '`{"name": "other"}`'
    case 'ranges':
      return '`{"name": [min, max]}` or `{"name": "refused"}`'
    case 'values':
      return '`{"name": value}`'
  }
}

function codes(values: readonly unknown[]): string {
  return values.map((value) => `\`${String(value)}\``).join(', ')
}

interface Part {
  readonly title: string
  readonly has: (entry: ProfileEntry['match']) => boolean
}

const parts: readonly Part[] = [
  {
    title: 'Models, at all hosts',
    has: ({ brands: hosts, protocol }) => hosts === undefined && protocol === undefined,
  },
  { title: 'Models at providers of a protocol', has: ({ protocol }) => protocol !== undefined },
  { title: 'Hosts, with all models', has: ({ brands: hosts, model }) => hosts !== undefined && model === undefined },
  { title: 'Models at hosts', has: ({ brands: hosts, model }) => hosts !== undefined && model !== undefined },
]

function knownTables(): string {
  return parts
    .map(({ title, has }) => {
      const rows = knownProfiles.filter(({ match }) => has(match)).map(rowOf)
      return [`### ${title}`, '', '| Where | What svc does | Sources |', '|---|---|---|', ...rows].join('\n')
    })
    .join('\n\n')
}

function rowOf(entry: ProfileEntry): string {
  return `| ${placeOf(entry)} | ${wordsOf(entry.profile).join('; ')} | ${entry.sources.map(linkTo).join(', ')} |`
}

function placeOf({ models, match: { brands: hosts, protocol, model, except } }: ProfileEntry): string {
  const names = hosts?.map((id) => brands.find((brand) => brand.id === id)?.name ?? id)
  // In a cell of a table, a bar needs a backslash.
  const pattern = (expression: RegExp) => `\`${expression.source.replaceAll('|', '\\|')}\``
  const matched = model === undefined ? undefined : `names with ${pattern(model)}`
  const exception = except === undefined ? '' : `, but not with ${pattern(except)}`
  const of = models ?? (matched === undefined ? undefined : `${matched}${exception}`)
  return [
    ...(protocol === undefined ? [] : [`protocol \`${protocol}\``]),
    ...(names ?? []),
    ...(of === undefined ? [] : [of]),
  ].join(', ')
}

/** Issues are named as on GitHub, pages by their host. */
function linkTo(address: string): string {
  const { hostname, pathname } = new URL(address)
  const [, repository, number] = /^\/([^/]+\/[^/]+)\/(?:issues|pull|discussions)\/(\d+)/.exec(pathname) ?? []
  const text =
    number === undefined
      ? `${hostname.replace(/^www\./, '')}${hostname === 'github.com' ? pathname.split('/').slice(0, 3).join('/') : ''}`
      : `${repository}#${number}`
  return `[${text}](${address})`
}

if (import.meta.main) await writeFiles(profileLists)
