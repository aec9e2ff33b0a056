import type { ReactNode } from 'react'
import { firstLines } from '../providers/first-lines.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Notice } from '../ui/notice.tsx'

/** Props of {@link FirstUse}. */
export interface FirstUseProps {
  /** Path of providers.json; absent if the user may not change it. */
  readonly file: string | undefined
  /** Content below. */
  readonly children: ReactNode
}

/** Help to add the first provider, shown while only the built-in echo answers. */
export function FirstUse({ file, children }: FirstUseProps): ReactNode {
  return (
    <>
      <Notice kind="info" title="This is the built-in echo: it answers with your own words">
        {file === undefined ? (
          <p>The owner of this service has not added a provider yet. This note goes away when they do.</p>
        ) : (
          <Lines lines={firstLines(file).split('\n')} />
        )}
      </Notice>
      {children}
    </>
  )
}

function Lines({ lines }: { readonly lines: readonly string[] }): ReactNode {
  return (
    <>
      <p>
        Two lines in a terminal (bash or zsh), on the machine where svc runs, add a real provider. The second asks for
        your key, and neither shows it nor keeps it in the shell's history; <code className="font-mono">groq</code> may
        be <code className="font-mono">openai</code>, <code className="font-mono">anthropic</code>,{' '}
        <code className="font-mono">gemini</code>, <code className="font-mono">openrouter</code> and more.
      </p>
      <ol className="mt-2 flex flex-col gap-1">
        {lines.map((line, index) => (
          <li key={line} className="flex items-center gap-1 rounded-lg border border-line bg-raised pl-3">
            <code className="min-w-0 flex-1 py-2 font-mono text-xs wrap-anywhere">{line}</code>
            <CopyButton text={line} label={`Copy line ${index + 1}`} />
          </li>
        ))}
      </ol>
      <p className="mt-2">Its models appear here by themselves, without a restart.</p>
    </>
  )
}
