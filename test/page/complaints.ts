import type { Tab } from '../fakes/chromium.ts'

/** What an answer of 401, or a service that was stopped, has a browser say. */
const failedRequest = /^Failed to load resource: (?:the server responded with a status of|net::ERR_(?!BLOCKED_BY_CSP))/

/**
 * What was said in a tab's console as an error, or in a dialog of a script, requests apart that failed because a test
 * had them fail: whatever the Content-Security-Policy has forbidden is among it. Nothing, when all is well.
 */
export async function complaintsOf(tab: Tab): Promise<readonly string[]> {
  return (await tab.complaints()).filter((complaint) => !failedRequest.test(complaint))
}
