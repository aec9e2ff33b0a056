import { useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import type { TokenLogprob } from '../history/conversation.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { formatProbability, likelihoodOf, visibleToken } from './probability.ts'

const looks = { high: 'bg-ok-soft', middle: 'bg-warn-soft', low: 'bg-bad-soft underline decoration-dotted' } as const

/** An answer by tokens, coloured by likelihood. Shows details of the token that is focused or hovered. */
export function LogprobsView({ logprobs }: { readonly logprobs: readonly TokenLogprob[] }): ReactNode {
  const [at, setAt] = useState(0)
  const tokens = useRef<HTMLDivElement>(null)
  const chosen = logprobs[at]

  function onKeyDown(event: KeyboardEvent): void {
    const next = nextToken(event.key, at, logprobs.length)
    if (next === undefined) return
    event.preventDefault()
    setAt(next)
    tokens.current?.querySelectorAll<HTMLElement>('[data-token]')[next]?.focus()
  }

  return (
    <div className="mt-2 text-sm">
      <p className="mb-1 text-xs text-muted">
        {rich(say.chat.probabilityHint, {
          high: <Sample of="high">{say.chat.probabilityHigh}</Sample>,
          middle: <Sample of="middle">{say.chat.probabilityMiddle}</Sample>,
          low: <Sample of="low">{say.chat.probabilityLow}</Sample>,
        })}
      </p>
      <div
        ref={tokens}
        role="group"
        aria-label={say.common.tokens}
        onKeyDown={onKeyDown}
        className={
          'max-h-80 overflow-y-auto rounded-lg border border-line p-2 font-mono text-xs leading-6 ' +
          'whitespace-pre-wrap wrap-anywhere'
        }
      >
        {logprobs.map(({ token, logprob }, index) => (
          <span
            key={index}
            data-token=""
            role="button"
            tabIndex={index === at ? 0 : -1}
            aria-pressed={index === at}
            onFocus={() => setAt(index)}
            onPointerEnter={() => setAt(index)}
            className={
              `cursor-default rounded ${looks[likelihoodOf(logprob)]} ` +
              (index === at ? 'outline-1 outline-accent' : '')
            }
          >
            {token}
            <span className="sr-only"> {formatProbability(logprob)}</span>
          </span>
        ))}
      </div>
      {chosen === undefined ? null : <Alternatives token={chosen} />}
    </div>
  )
}

function Sample({ of, children }: { readonly of: keyof typeof looks; readonly children: string }): ReactNode {
  return <span className={`rounded px-1 text-ink ${looks[of]}`}>{children}</span>
}

function nextToken(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowRight':
      return Math.min(at + 1, count - 1)
    case 'ArrowLeft':
      return Math.max(at - 1, 0)
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return undefined
  }
}

function Alternatives({ token }: { readonly token: TokenLogprob }): ReactNode {
  const rows = token.top.some((each) => each.token === token.token) ? token.top : [token, ...token.top]
  return (
    <table className="mt-2 w-full max-w-sm text-left text-xs tabular-nums">
      <caption className="py-1 text-left text-muted">
        {token.top.length === 0 ? say.chat.thisToken : say.chat.thisTokenAndOthers}
      </caption>
      <thead className="sr-only">
        <tr>
          <th scope="col">{say.chat.token}</th>
          <th scope="col">{say.chat.probability}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((each, index) => (
          <tr key={index} className={`border-t border-line ${each.token === token.token ? 'font-semibold' : ''}`}>
            <td className="py-0.5 pr-3 font-mono whitespace-pre-wrap wrap-anywhere">{visibleToken(each.token)}</td>
            <td className="py-0.5 text-right">{formatProbability(each.logprob)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
