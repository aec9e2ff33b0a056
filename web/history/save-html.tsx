import type { ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { ToolCards } from '../chat/tool-cards.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { language } from '../texts/locale.ts'
import { say } from '../texts/say.ts'
import { localDay } from '../ui/local-time.ts'
import type { AssistantMessage, Conversation, Message } from './conversation.ts'
import { oneLine } from './one-line.ts'
import { fileNameOf, saveFile } from './save-file.ts'
import { branchOf } from './tree.ts'

const quietMs = 400
const waitMsMax = 10_000

/** Allows the saved page nothing but its own style and the pictures in it. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

/**
 * Downloads the shown branch of a conversation as one HTML file with style, formulas, colours of code and pictures. It
 * has no script and loads nothing.
 */
export async function saveHtml(conversation: Conversation): Promise<void> {
  const box = document.createElement('div')
  // Out of view, since tables are measured.
  box.className = 'fixed top-0 left-[200vw] w-3xl'
  box.inert = true
  document.body.append(box)
  const root = createRoot(box)
  try {
    root.render(<SavedPage conversation={conversation} />)
    await stillness(box)
    const file = new Blob([documentOf(oneLine(conversation.title), box)], { type: 'text/html' })
    saveFile(file, fileNameOf(conversation.title, 'html'))
  } finally {
    root.unmount()
    box.remove()
  }
}

/** Waits until the formulas and colours of the element have arrived. */
function stillness(element: Element): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      observer.disconnect()
      clearTimeout(quiet)
      clearTimeout(longest)
      resolve()
    }
    let quiet = setTimeout(end, quietMs)
    const longest = setTimeout(end, waitMsMax)
    const observer = new MutationObserver(() => {
      clearTimeout(quiet)
      quiet = setTimeout(end, quietMs)
    })
    observer.observe(element, { subtree: true, childList: true, characterData: true })
  })
}

function documentOf(title: string, box: HTMLElement): string {
  const copy = box.cloneNode(true)
  if (!(copy instanceof HTMLElement)) return ''
  for (const each of copy.querySelectorAll('[data-mark], [data-footnote] > button'))
    each.replaceWith(each.textContent ?? '')
  for (const each of copy.querySelectorAll('button')) each.remove()
  const style = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText))
  const head = document.implementation.createHTMLDocument(title).querySelector('title')
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
${head?.outerHTML ?? ''}
<style>
${style.join('\n')}
</style>
<body>
${copy.innerHTML}
</body>
</html>
`
}

function SavedPage({ conversation }: { readonly conversation: Conversation }): ReactNode {
  const { title, created, settings, ...tree } = conversation
  return (
    <main className="mx-auto flex max-w-3xl flex-col gap-4 px-4 py-8">
      <h1 className="text-2xl font-bold wrap-anywhere">{oneLine(title)}</h1>
      <p className="text-sm text-muted">
        {[settings.model ?? '', localDay(created)].filter((each) => each !== '').join(' · ')}
      </p>
      {settings.system.trim() === '' ? null : (
        <Folded summary={say.common.systemPrompt}>
          <p className="whitespace-pre-wrap wrap-anywhere">{settings.system}</p>
        </Folded>
      )}
      {branchOf(tree).map((message) => (
        <article key={message.id} className="min-w-0">
          <SavedMessage message={message} />
        </article>
      ))}
    </main>
  )
}

function SavedMessage({ message }: { readonly message: Message }): ReactNode {
  if (message.role === 'user')
    return (
      <div className="flex flex-col items-end gap-2">
        <h2 className="sr-only">{say.common.youSaid}</h2>
        {message.images.map(({ id, name, dataUrl }) => (
          <img key={id} src={dataUrl} alt={name} className="max-h-80 max-w-full rounded-lg" />
        ))}
        {message.files?.map(({ id, name, text }) => (
          <Folded key={id} summary={name}>
            <pre className="text-sm whitespace-pre-wrap wrap-anywhere">{text}</pre>
          </Folded>
        ))}
        {message.text === '' ? null : (
          <p dir="auto" className="rounded-2xl bg-hover px-4 py-2 whitespace-pre-wrap wrap-anywhere">
            {message.text}
          </p>
        )}
      </div>
    )
  const end = endOf(message)
  return (
    <>
      <h2 className="sr-only">{say.common.answer}</h2>
      {message.reasoning.trim() === '' ? null : (
        <Folded summary={say.history.reasoning}>
          <Markdown text={message.reasoning} isStreaming={false} />
        </Folded>
      )}
      {message.tools === undefined ? null : <ToolCards calls={message.tools} isStreaming={false} isWhole />}
      <Markdown text={message.text} isStreaming={false} />
      {end === '' ? null : <p className="mt-2 text-xs text-muted">{end}</p>}
    </>
  )
}

function Folded({ summary, children }: { readonly summary: string; readonly children: ReactNode }): ReactNode {
  return (
    <details className="mb-3 text-sm text-muted">
      <summary className="w-fit">{summary}</summary>
      <div className="mt-1 border-s-2 border-line ps-4">{children}</div>
    </details>
  )
}

/** Provider and model of an answer, and why it is not complete. */
function endOf({ status, error, provenance }: AssistantMessage): string {
  const ends = {
    complete: '',
    streaming: say.common.interrupted,
    interrupted: say.common.interrupted,
    stopped: say.common.stopped,
    failed: say.common.failed,
  }
  return [provenance?.provider, provenance?.model, ends[status], error?.message]
    .filter((each) => each !== undefined && each !== '')
    .join(' · ')
}
