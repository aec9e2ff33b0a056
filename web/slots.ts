import type { ComponentType } from 'react'

/** Props of each slot's component. The names are the available slots; the page has a default for each. */
export interface SlotProps {
  /**
   * Shown when a person has to sign in, below a heading of level 1 or 2: alone on the page, or in a dialog when a
   * session has ended.
   */
  readonly SignIn: {
    /** Settings of the extension (`Contribution.part.settings`), such as the identity provider's name. */
    readonly settings: Readonly<Record<string, string>>
    /**
     * Uses a token, sent as `Authorization: Bearer` until the page is closed. Resolves with whether the service accepts
     * it. Rejects when the service cannot be reached; the page shows the error's message.
     */
    readonly enterToken: (token: string) => Promise<boolean>
  }
}

/** A slot that one extension may fill. */
export type SlotName = keyof SlotProps

/** The available slots. */
export const slotNames = ['SignIn'] as const satisfies readonly SlotName[]

/** An item of the account menu. It is data, so the page decides on its look. */
export interface MenuItem {
  readonly label: string
  /** Default: `leave`. */
  readonly icon?: 'leave' | 'users'
  /** When it resolves, the page reloads in every tab. When it rejects, the page shows the error's message. */
  readonly run: () => Promise<void>
}

/** A link of the account menu to a page of the extension. */
export interface MenuLink {
  readonly label: string
  /** The setting of the extension that has the path. Without the setting, there is no link. */
  readonly setting: string
}

/** Additions of an extension to the page: the export `part` of its `page-part.tsx`. */
export interface PagePart {
  /** Components in place of the page's defaults. Slots that the extension does not claim on the server are ignored. */
  readonly replace?: { readonly [Name in SlotName]?: ComponentType<SlotProps[Name]> }
  readonly add?: { readonly userMenu?: readonly MenuItem[]; readonly userLinks?: readonly MenuLink[] }
}
