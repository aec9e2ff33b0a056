import { readFileSync } from 'node:fs'
import { parseJson, pick } from '../client.ts'
import type { Tab } from '../fakes/chromium.ts'

const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const contrastRules = ['color-contrast', 'link-in-text-block']
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Script whose promise resolves when all animations have ended, apart from those without an end. */
export const settled = `Promise.all(document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
  .map((animation) => animation.finished.catch(() => {}))).then(() => 0)`

/**
 * Checks a tab with axe-core for WCAG 2.2 AA and good practice. Of a view that differs from one that was checked in its
 * colours alone, only their contrast must be checked.
 *
 * @returns violations as `rule: element`
 */
export async function violationsOf(tab: Tab, scope: 'all' | 'colours' = 'all'): Promise<readonly string[]> {
  const rules = scope === 'all' ? tags : contrastRules
  if ((await tab.evaluate('window.axe === undefined')) === true) await tab.evaluate(`${axe}; void 0`)
  await tab.evaluate(settled)
  const found = parseJson(
    String(
      await tab.evaluate(`axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'],
        preload: { assets: ['media'] }, selectors: false })
        .then(({ violations }) => {
          const summary = (text) => text.split('\\n').slice(1, 2).join('').trim()
          return JSON.stringify(violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) =>
            id + ': ' + html.slice(0, 200) + ' ' + summary(failureSummary))))
        })`),
    ),
  )
  return Array.isArray(found) ? found.map(String) : [`axe did not run: ${String(pick(found, 'message'))}`]
}

/** Pixels by which the page of a tab scrolls sideways. */
export async function overflowOf(tab: Tab): Promise<unknown> {
  return await tab.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}
