/** The page's language, such as `de`: that of the build which the service chose (docs/decisions/0030-languages.md). */
export const language = globalThis.document?.documentElement.lang || 'en'

/** The browser's variant of the page's language, for dates: `en-GB` on an English page. */
export const locale =
  globalThis.navigator?.languages?.find((each) => each === language || each.startsWith(`${language}-`)) ?? language
