import { useEffect, useRef, useState, type ReactNode } from 'react'
import { saveFile } from '../history/save-file.ts'
import { say } from '../texts/say.ts'
import { IconButton } from '../ui/button.tsx'
import { codeFileName } from './code-file-name.ts'

/** How code is shown: as it is, with wrapped lines, or as a page or picture. */
export type CodeLook = 'plain' | 'wrapped' | 'preview'

// Loaded when the first block of code is complete.

/** Buttons above a complete block of code: preview of HTML and SVG, wrapping of lines, download. */
export function CodeTools({
  text,
  info,
  language,
  look,
  onLook,
}: {
  readonly text: () => string
  readonly info: string
  readonly language: string
  readonly look: CodeLook
  readonly onLook: (look: CodeLook) => void
}): ReactNode {
  const choice = (name: string, to: CodeLook): ReactNode => (
    <button
      type="button"
      aria-pressed={look === to}
      onClick={() => onLook(look === to ? 'plain' : to)}
      className={
        'rounded-md px-2 py-1 hover:bg-hover hover:text-ink pointer-coarse:min-h-11 ' +
        (look === to ? 'bg-hover text-ink' : '')
      }
    >
      {name}
    </button>
  )
  return (
    <>
      {/^(?:html?|svg)$/.test(language) ? choice(say.markdown.preview, 'preview') : null}
      {choice(say.markdown.wrap, 'wrapped')}
      <IconButton
        label={say.markdown.downloadCode}
        icon="download"
        onClick={() => saveFile(new Blob([text()], { type: 'text/plain' }), codeFileName(info, language))}
      />
    </>
  )
}

/** Bounds of the height of a preview, in pixels. */
const previewMin = 48,
  previewMax = 384

/**
 * Shows HTML or SVG in a frame that runs no script and loads nothing (src/http/page/preview.ts). The frame is as high
 * as its content, within bounds.
 */
export function CodePreview({ text }: { readonly text: string }): ReactNode {
  const frame = useRef<HTMLIFrameElement>(null)
  const [height, setHeight] = useState(previewMin)
  useEffect(() => {
    function resize({ source, data }: MessageEvent<unknown>): void {
      if (source !== frame.current?.contentWindow || typeof data !== 'number' || !(data >= 0)) return
      setHeight(Math.min(Math.max(Math.ceil(data), previewMin), previewMax))
    }
    addEventListener('message', resize)
    return () => removeEventListener('message', resize)
  }, [])
  return (
    <>
      {/<script|\son\w+\s*=/i.test(text) ? (
        <p className="border-b border-line px-3 py-1 text-xs text-muted">{say.markdown.noScripts}</p>
      ) : null}
      <iframe
        ref={frame}
        src="/preview"
        title={say.markdown.preview}
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        // The frame has no origin that could be named.
        onLoad={({ currentTarget }) => currentTarget.contentWindow?.postMessage(text, '*')}
        style={{ height }}
        className="block w-full bg-[#fff] [color-scheme:light]"
      />
    </>
  )
}
