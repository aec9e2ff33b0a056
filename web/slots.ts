import type { ComponentType } from 'react'

/** What each slot's component is given. The names are the slots there are; each has a default in the page. */
export interface SlotProps {
  /**
   * Shown where somebody has to sign in, below a heading of level 1 or 2: alone on the page, or in a dialog when a
   * session ended in the middle of work.
   */
  readonly SignIn: {
    /** What the extension says of itself (`Contribution.part.settings`), such as the identity provider's name. */
    readonly settings: Readonly<Record<string, string>>
    /**
     * Uses a token, sent as `Authorization: Bearer` until the page is closed. Resolves with whether it is accepted;
     * rejects with an error whose message a person is shown when that cannot be asked.
     */
    readonly useToken: (token: string) => Promise<boolean>
  }
}

/** A slot that one extension may take over. */
export type SlotName = keyof SlotProps

/** The slots there are. */
export const slotNames = ['SignIn'] as const satisfies readonly SlotName[]

/** One line of the menu behind the avatar. Data, so that the page decides how it looks. */
export interface MenuItem {
  readonly label: string
  /** Rejects with an error whose message a person is shown. When it resolves, the page starts anew, in every tab. */
  readonly run: () => Promise<void>
}

/** What an extension adds to the page: the export `part` of its `page-part.tsx`. */
export interface PagePart {
  /** Takes the place of the page's own. Only slots that the extension claims on the server are taken. */
  readonly replace?: { readonly [Name in SlotName]?: ComponentType<SlotProps[Name]> }
  readonly add?: { readonly userMenu?: readonly MenuItem[] }
}
