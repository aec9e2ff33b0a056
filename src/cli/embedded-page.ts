import type { PageFiles } from '../http/page-files.ts'

/**
 * The page that is built into this program: none. The build of the executable puts a file of its own in the place of
 * this one.
 */
export const embeddedPage: PageFiles | undefined = undefined
