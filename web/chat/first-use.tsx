import type { ReactNode } from 'react'
import { hrefOf } from '../app/route.ts'
import { firstLines } from '../providers/first-lines.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { ButtonLink } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatCount } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'

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
        {file === undefined ? (
          <p>{say.chat.echoNoOwner}</p>
        ) : (
          <>
            <p>{say.chat.echoAdd}</p>
            <ButtonLink variant="primary" className="mt-2" href={hrefOf({ view: 'providers' })}>
              {say.chat.echoAddIt}
            </ButtonLink>
            <details className="mt-3">
              <summary className="w-fit">{say.chat.echoByHand}</summary>
              <Lines lines={firstLines(file).split('\n')} />
            </details>
          </>
        )}
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
      <p className="mt-1">{rich(say.chat.echoLines, brands)}</p>
      <ol className="mt-2 flex flex-col gap-1">
        {lines.map((line, index) => (
          <li key={line} className="flex items-center gap-1 rounded-lg border border-line bg-raised pl-3">
            <code className="min-w-0 flex-1 py-2 font-mono text-xs wrap-anywhere">{line}</code>
            <CopyButton text={line} label={say.chat.copyLine(formatCount(index + 1))} />
          </li>
        ))}
      </ol>
    </>
  )
}
