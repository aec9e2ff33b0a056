import { language } from '../texts/locale.ts'

/** The languages of the page, each with its own name. Names are not translated. */
export const languageNames = { en: 'English', de: 'Deutsch' } as const

/** A language that a person chose, or the browser's. */
export type LanguageChoice = keyof typeof languageNames | 'browser'

const cookieName = 'svc-language'
/** The longest time that browsers keep a cookie. */
const keptSeconds = 400 * 24 * 3_600

/** The choice that this browser remembers. */
export function languageChoice(): LanguageChoice {
  return document.cookie.split('; ').includes(`${cookieName}=${language}`) ? asChoice(language) : 'browser'
}

function asChoice(name: string): LanguageChoice {
  return name === 'en' || name === 'de' ? name : 'browser'
}

/** Remembers a language in this browser, and loads the page in it (docs/decisions/0030-languages.md). */
export function chooseLanguage(choice: LanguageChoice): void {
  const value = choice === 'browser' ? `; max-age=0` : `${choice}; max-age=${keptSeconds}`
  document.cookie = `${cookieName}=${value}; path=/; samesite=lax`
  location.reload()
}
