import type { Brand } from '../src/config/brand.ts'
import { brands } from '../src/config/catalogue.ts'
import { profileAt } from '../src/profiles/resolve-profile.ts'
import { withSection, writeFiles, type WrittenFile } from './write-section.ts'

/** `npm run brands`: writes the brands of `src/config/catalogue.ts` into the files that list them. */

/** All files that list the brands. */
export const brandLists: readonly WrittenFile[] = [
  { file: 'docs/configuration.md', updated: (text) => withSection(text, 'brands', brandTable()) },
]

function brandTable(): string {
  return ['| `id` | Provider | Base URL | Key in | |', '|---|---|---|---|---|', ...brands.map(row)].join('\n')
}

/** A brand's line in the table. Habits of requests are in docs/contributing/habits.md. */
function row({ id, name, protocol, baseUrl, keys, freeTier, models, quirks }: Brand): string {
  const profile = profileAt({ brand: id, protocol, model: '' })
  const notes = [
    ...(protocol === 'openai' ? [] : [`protocol \`${protocol}\``]),
    ...(freeTier === undefined ? [] : ['free tier']),
    ...(models === undefined ? [] : [`models ${models.map((model) => `\`${model}\``).join(', ')}`]),
    ...(profile.reasoning === 'keep' ? [] : [`\`reasoning_history\` is \`${profile.reasoning}\``]),
    ...(profile.prefill === 'continued' ? ['continues a broken stream'] : []),
    ...quirks.formats.map((format) => `\`formats\` has \`${format}\``),
  ]
  const cells = [
    `\`${id}\``,
    name,
    baseUrl === '' ? '' : `\`${baseUrl}\``,
    keys.map((key) => `\`${key}\``).join(', ') || 'none',
    notes.join('; '),
  ]
  return `| ${cells.join(' | ')} |`.replaceAll('  ', ' ')
}

if (import.meta.main) await writeFiles(brandLists)
