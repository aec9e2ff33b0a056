import type { ReactNode } from 'react'
import type { ChatController } from '../chat/chat-controller.ts'
import { lastAnswer } from '../chat/conversation-changes.ts'
import type { Provenance } from '../history/conversation.ts'
import { useStore } from '../store.ts'
import { say } from '../texts/say.ts'
import { formatCost, formatCount, formatMs, markEstimate } from '../ui/format.ts'

/** The figures of the last answers, a row for each model. */
export function Figures({ columns }: { readonly columns: readonly ChatController[] }): ReactNode {
  return (
    <details className="mx-auto max-w-5xl px-4 text-sm">
      <summary className="w-fit rounded-md py-1 text-muted pointer-coarse:py-2.5">{say.compare.figures}</summary>
      <div
        role="region"
        aria-label={say.compare.figuresTable}
        tabIndex={0}
        className="mb-1 overflow-x-auto rounded-xl border border-line bg-panel"
      >
        <table className="w-full text-right whitespace-nowrap tabular-nums">
          <thead className="text-xs text-muted">
            <tr>
              <th scope="col" className="px-3 py-1.5 text-left font-medium">
                {say.common.model}
              </th>
              {[say.common.provider, ...figures.map(({ title }) => title)].map((title) => (
                <th key={title} scope="col" className="px-3 py-1.5 font-medium">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {columns.map((column) => (
              <Row key={column.id} column={column} />
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}

function Row({ column }: { readonly column: ChatController }): ReactNode {
  const { conversation } = useStore(column.state)
  const provenance = lastAnswer(conversation)?.provenance
  return (
    <tr className="border-t border-line">
      <th scope="row" className="max-w-64 truncate px-3 py-1.5 text-left font-normal">
        {conversation.settings.model ?? say.common.noneOfThese}
      </th>
      <td className="px-3 py-1.5">{provenance?.provider ?? '–'}</td>
      {figures.map(({ title, of }) => (
        <td key={title} className="px-3 py-1.5">
          {(provenance === undefined ? undefined : of(provenance)) ?? '–'}
        </td>
      ))}
    </tr>
  )
}

const figures: readonly { readonly title: string; readonly of: (provenance: Provenance) => string | undefined }[] = [
  {
    title: say.common.firstToken,
    of: ({ firstTokenMs }) => (firstTokenMs === undefined ? undefined : formatMs(firstTokenMs)),
  },
  { title: say.compare.total, of: ({ totalMs }) => (totalMs === undefined ? undefined : formatMs(totalMs)) },
  { title: say.compare.tokensIn, of: ({ promptTokens, isEstimated }) => count(promptTokens, isEstimated) },
  { title: say.compare.tokensOut, of: ({ completionTokens, isEstimated }) => count(completionTokens, isEstimated) },
  { title: say.compare.tokensPerSecond, of: speed },
  {
    title: say.common.cost,
    of: ({ cost, isEstimated }) => (cost === undefined ? undefined : markEstimate(formatCost(cost), isEstimated)),
  },
]

function count(tokens: number | undefined, isEstimated: boolean | undefined): string | undefined {
  return tokens === undefined ? undefined : markEstimate(formatCount(tokens), isEstimated)
}

/** After the first token: the wait for it is a figure of its own. */
function speed({ firstTokenMs, totalMs, completionTokens, isEstimated }: Provenance): string | undefined {
  if (firstTokenMs === undefined || totalMs === undefined || completionTokens === undefined) return undefined
  const seconds = (totalMs - firstTokenMs) / 1_000
  return seconds < 0.05 ? undefined : markEstimate(formatCount(Math.round(completionTokens / seconds)), isEstimated)
}
