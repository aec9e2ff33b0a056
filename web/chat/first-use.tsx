import type { ReactNode } from 'react'
import { firstLines } from '../providers/first-lines.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatCount } from '../ui/format.ts'
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
      <Notice kind="info" title={say.chat.echo}>
        {file === undefined ? <p>{say.chat.echoNoOwner}</p> : <Lines lines={firstLines(file).split('\n')} />}
      </Notice>
      {children}
    </>
  )
}

const brands = Object.fromEntries(
  ['groq', 'openai', 'anthropic', 'gemini', 'openrouter'].map((brand) => [
    brand,
    <code key={brand} className="font-mono">
      {brand}
    </code>,
  ]),
)

function Lines({ lines }: { readonly lines: readonly string[] }): ReactNode {
  return (
    <>
      <p>{rich(say.chat.echoLines, brands)}</p>
      <ol className="mt-2 flex flex-col gap-1">
        {lines.map((line, index) => (
          <li key={line} className="flex items-center gap-1 rounded-lg border border-line bg-raised pl-3">
            <code className="min-w-0 flex-1 py-2 font-mono text-xs wrap-anywhere">{line}</code>
            <CopyButton text={line} label={say.chat.copyLine(formatCount(index + 1))} />
          </li>
        ))}
      </ol>
      <p className="mt-2">{say.chat.echoThen}</p>
    </>
  )
}
