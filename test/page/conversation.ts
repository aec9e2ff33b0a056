import type { Tab } from '../fakes/chromium.ts'

/** The last message, of the user or an answer. */
export const lastMessage = 'article:last-of-type'

/** Element with this label in the last message. */
export function labelled(name: string): string {
  return `${lastMessage} >> [aria-label="${name}"]`
}

/** The line of the last answer: who was asked, and its figures. */
export async function answerLine(tab: Tab): Promise<string> {
  return (await tab.textOf(`${lastMessage} >> summary`)).replaceAll(/\s+/g, ' ').trim()
}

/** A text among the messages. */
export function said(text: string): string {
  return `[role="log"] >> text=${text}`
}

/** Opens a new conversation, and waits until a model is chosen. */
export async function openConversation(tab: Tab, url: string): Promise<void> {
  await tab.goto(`${url}/`)
  await tab.waitFor('button:has-text("Model: ")')
}

/** Writes a message and sends it. */
export async function ask(tab: Tab, text: string): Promise<void> {
  await tab.fill('#message', text)
  // Sends on screens that are touched, too, where Enter begins a new line.
  await tab.press('Control+Enter')
}

/** Sends a message and waits for the complete answer of provider `a`. @returns address of the conversation */
export async function converse(tab: Tab, words: string): Promise<string> {
  const before = Number(await tab.evaluate(`document.querySelectorAll('article[aria-label="Answer"]').length`))
  await ask(tab, words)
  await tab.waitFor(`article[aria-label="Answer"] >> nth=${before} >> summary >> text=/^a answered$/`)
  return tab.url()
}

/** Chooses a model with keys alone. */
export async function chooseModel(tab: Tab, name: string): Promise<void> {
  await tab.press('Control+/')
  await tab.waitFor('[role="listbox"]')
  await tab.type(name)
  await tab.press('Enter')
  await tab.waitFor(`button:has-text("Model: ${name}")`)
}
