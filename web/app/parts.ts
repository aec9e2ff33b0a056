import type { ComponentType } from 'react'
import type { PartEntry } from '../../src/http/page/page-api.ts'
import { slotNames, type MenuItem, type PagePart, type SlotName, type SlotProps } from '../slots.ts'
import { language } from '../texts/locale.ts'

/** A component for a slot, and the extension it comes from. */
interface Filling<Name extends SlotName> {
  readonly extension: string
  readonly component: ComponentType<SlotProps[Name]>
  readonly settings: Readonly<Record<string, string>>
}

/** The page parts of all extensions. */
export interface Parts {
  readonly fillings: { readonly [Name in SlotName]?: Filling<Name> }
  readonly userMenu: readonly MenuItem[]
  readonly userLinks: readonly { readonly label: string; readonly path: string }[]
  /** Extensions whose part did not load, or lacks a slot it claims. The page's defaults are shown instead. */
  readonly failed: readonly string[]
}

/**
 * Loads the page parts of extensions. A part that fails is listed in `failed`. Slots that an extension does not claim
 * on the server are ignored.
 *
 * @param load imports a module; replaced in tests
 */
export async function loadParts(
  entries: readonly PartEntry[],
  load: (address: string) => Promise<unknown> = (address) => import(address),
): Promise<Parts> {
  const loaded = await Promise.all(entries.map(async (entry) => ({ entry, part: await loadPart(entry, load) })))
  const fillings: { -readonly [Name in SlotName]?: Filling<Name> } = {}
  const userMenu: MenuItem[] = []
  const userLinks: Parts['userLinks'][number][] = []
  const failed: string[] = []
  for (const {
    entry: { extension, slots, settings },
    part,
  } of loaded) {
    const missing = slotNames.filter((name) => slots.includes(name) && part?.replace?.[name] === undefined)
    if (part === undefined || missing.length > 0) failed.push(extension)
    for (const name of slotNames) {
      const component = part?.replace?.[name]
      if (component !== undefined && slots.includes(name)) fillings[name] ??= { extension, component, settings }
    }
    userMenu.push(...(part?.add?.userMenu ?? []))
    userLinks.push(...linksOf(part, settings))
  }
  return { fillings, userMenu, userLinks, failed }
}

function linksOf(part: PagePart | undefined, settings: PartEntry['settings']): Parts['userLinks'] {
  return (part?.add?.userLinks ?? []).flatMap(({ label, setting }) => {
    const path = settings[setting]
    return path === undefined ? [] : [{ label, path }]
  })
}

async function loadPart(
  { extension, modules }: PartEntry,
  load: (address: string) => Promise<unknown>,
): Promise<PagePart | undefined> {
  try {
    const loaded = await load(modules[language] ?? modules['en'] ?? '')
    if (hasPart(loaded)) return loaded.part
    console.error(`the page part of ${extension} exports no part`)
  } catch (error) {
    console.error(`the page part of ${extension} did not load`, error)
  }
  return undefined
}

/** The part was built with this page, so its type was checked then. */
function hasPart(module: unknown): module is { readonly part: PagePart } {
  return (
    typeof module === 'object' &&
    module !== null &&
    'part' in module &&
    typeof module.part === 'object' &&
    module.part !== null
  )
}
