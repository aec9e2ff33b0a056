/**
 * The texts of the page. The build writes each in its language in place of `say.room.name`, so a page has the texts of
 * one language only, each where it is used (docs/decisions/0030-languages.md).
 */
export { en as say } from './en.ts'
