import { useLayoutEffect, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { formatShortCount } from '../ui/format.ts'
import { axisTicks, linearScale, linePath, lonePoints, columnAt } from './chart-scale.ts'
import { formatMinute } from './format-minute.ts'

/** Values per minute; `undefined` for a missing one. */
export interface Series {
  readonly name: string
  readonly values: readonly (number | undefined)[]
}

/** A series with its colour class. */
export interface ColouredSeries extends Series {
  readonly colour: string
  readonly isDashed?: boolean
}

export interface MinutePlotProps {
  /** Text alternative for screen readers. */
  readonly summary: string
  /** Start of each minute, or of another unit. */
  readonly times: readonly number[]
  /** Stacked bars, the first at the bottom. */
  readonly bars?: readonly ColouredSeries[]
  readonly lines?: readonly ColouredSeries[]
  /** Columns of the tooltip. */
  readonly columns: readonly Series[]
  readonly formatAxis?: (value: number) => string
  /** Formats a value. @param time start of its minute */
  readonly format: (value: number, time: number) => string
  /** The unit of time of a value. Default `minute`. */
  readonly unit?: 'minute' | 'hour' | 'day'
  readonly formatTime?: (time: number) => string
  /** Whether a place of the axis has a label. @param labelsMax labels for which there is space */
  /** The least step of the axis. Default 1. */
  readonly stepMin?: number
  readonly isLabelled?: (index: number, labelsMax: number) => boolean
}

const height = 148,
  top = 8,
  bottom = 22,
  left = 44,
  right = 4
const floor = height - bottom
/** Width of an axis label in pixels. */
const labelWidth = 72

/** Bars or lines by minute. Arrow keys or hovering show the values of one minute. */
export function MinutePlot(props: MinutePlotProps): ReactNode {
  const { times, columns, format, summary, unit = 'minute', formatTime = formatMinute } = props
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const [chosen, setChosen] = useState<number>()
  const index = chosen === undefined ? -1 : times.indexOf(chosen)
  const time = times[index] ?? times.at(-1) ?? 0
  const tipLines =
    index === -1 ? undefined : columns.map(({ name, values }) => `${name} ${formatted(values[index], format, time)}`)

  function onPoint(event: PointerEvent): void {
    const { left: from } = event.currentTarget.getBoundingClientRect()
    setChosen(times[columnAt(event.clientX - from - left, width - left - right, times.length)])
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Escape') return setChosen(undefined)
    const next = nextPlace(event.key, index === -1 ? times.length - 1 : index, times.length)
    if (next === undefined) return
    event.preventDefault()
    setChosen(times[next])
  }

  return (
    <div ref={box} className="relative" style={{ height }}>
      {width === 0 ? null : <Drawing {...props} width={width} chosen={index} />}
      <div
        role="slider"
        tabIndex={0}
        aria-label={`${summary} ${say.requests.axis[unit]}`}
        aria-valuemin={0}
        aria-valuemax={times.length - 1}
        aria-valuenow={index === -1 ? times.length - 1 : index}
        aria-valuetext={tipLines === undefined ? formatTime(time) : `${formatTime(time)}: ${tipLines.join(', ')}`}
        className="absolute inset-0 touch-pan-y rounded-md"
        onPointerMove={onPoint}
        onPointerDown={onPoint}
        onPointerLeave={(event) => {
          if (event.currentTarget !== document.activeElement) setChosen(undefined)
        }}
        onFocus={() => setChosen((known) => known ?? times.at(-1))}
        onBlur={() => setChosen(undefined)}
        onKeyDown={onKeyDown}
      />
      {tipLines === undefined ? null : (
        <Tip title={formatTime(time)} tipLines={tipLines} x={placeX(index, width, times.length)} width={width} />
      )}
    </div>
  )
}

function Drawing({
  times,
  bars = [],
  lines = [],
  formatAxis = formatShortCount,
  summary,
  width,
  chosen,
  formatTime = formatMinute,
  stepMin = 1,
  isLabelled,
}: MinutePlotProps & { readonly width: number; readonly chosen: number }): ReactNode {
  const step = (width - left - right) / times.length
  const labelEvery = [10, 15, 30].find((minutes) => minutes * step >= labelWidth) ?? 60
  const hasLabel = isLabelled ?? ((index: number) => isFullMinute(times[index] ?? 0, labelEvery))
  const stacks = times.map((_, index) => bars.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const most = Math.max(0, ...stacks, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const ticks = axisTicks(most, 3, stepMin)
  const y = linearScale(ticks.at(-1) ?? 1, floor, top)
  return (
    <svg role="img" aria-label={summary} width={width} height={height} className="block overflow-visible">
      {ticks.map((tick) => (
        <g key={tick}>
          <line x1={left} x2={width - right} y1={y(tick)} y2={y(tick)} className="stroke-line" />
          <text x={left - 6} y={y(tick)} dy="0.32em" textAnchor="end" className="fill-muted text-xs tabular-nums">
            {formatAxis(tick)}
          </text>
        </g>
      ))}
      {times.map((time, index) =>
        hasLabel(index, Math.floor(width / labelWidth)) &&
        placeX(index, width, times.length) < width - labelWidth / 2 ? (
          <text
            key={time}
            x={placeX(index, width, times.length)}
            y={height - 4}
            textAnchor="middle"
            className="fill-muted text-xs tabular-nums"
          >
            {formatTime(time)}
          </text>
        ) : null,
      )}
      {chosen === -1 ? null : (
        <rect x={left + chosen * step} y={top} width={step} height={floor - top} className="fill-hover" />
      )}
      {times.map((time, index) => (
        <Stack key={time} bars={bars} index={index} x={left + index * step + 0.5} width={Math.max(1, step - 1)} y={y} />
      ))}
      {lines.map((series) => (
        <Line key={series.name} series={series} x={(index) => placeX(index, width, times.length)} y={y} />
      ))}
    </svg>
  )
}

function Line({
  series: { values, colour, isDashed },
  x,
  y,
}: {
  readonly series: ColouredSeries
  readonly x: (index: number) => number
  readonly y: (value: number) => number
}): ReactNode {
  const points = values.map((value, index) => (value === undefined ? undefined : { x: x(index), y: y(value) }))
  return (
    <g className={colour}>
      <path
        d={linePath(points)}
        fill="none"
        stroke="currentColor"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
        {...(isDashed === true ? { strokeDasharray: '1 4' } : {})}
      />
      {lonePoints(points).map((point) => (
        <circle key={point.x} cx={point.x} cy={point.y} r="3" fill="currentColor" />
      ))}
    </g>
  )
}

/** The stacked bars of one minute. */
function Stack({
  bars,
  index,
  x,
  width,
  y,
}: {
  readonly bars: readonly ColouredSeries[]
  readonly index: number
  readonly x: number
  readonly width: number
  readonly y: (value: number) => number
}): ReactNode {
  let below = 0
  return bars.map(({ name, values, colour }) => {
    const value = values[index] ?? 0
    if (value === 0) return null
    const from = below
    below += value
    return (
      <rect
        key={name}
        x={x}
        width={width}
        y={y(below)}
        // A line of the page between bars.
        height={Math.max(1, y(from) - y(below) - (from === 0 ? 0 : 1))}
        className={colour}
        fill="currentColor"
      />
    )
  })
}

function Tip({
  title,
  tipLines,
  x,
  width,
}: {
  readonly title: string
  readonly tipLines: readonly string[]
  readonly x: number
  readonly width: number
}): ReactNode {
  const isLeft = x > width / 2
  return (
    <div
      className={
        'pointer-events-none absolute top-0 z-[1] rounded-lg border border-line bg-raised px-2 py-1 text-xs ' +
        'whitespace-nowrap tabular-nums shadow-md'
      }
      style={isLeft ? { right: width - x + 8 } : { left: x + 8 }}
    >
      <p className="font-medium">{title}</p>
      {tipLines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  )
}

/** Formats a value, or says that the minute has none. */
export function formatted(value: number | undefined, format: MinutePlotProps['format'], time: number): string {
  return value === undefined ? say.common.noneOfThese : format(value, time)
}

function placeX(index: number, width: number, count: number): number {
  return left + ((index + 0.5) * (width - left - right)) / count
}

function isFullMinute(time: number, everyMinutes: number): boolean {
  return new Date(time).getMinutes() % everyMinutes === 0
}

function nextPlace(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return Math.max(0, at - 1)
    case 'ArrowRight':
    case 'ArrowUp':
      return Math.min(count - 1, at + 1)
    case 'PageUp':
      return Math.max(0, at - 10)
    case 'PageDown':
      return Math.min(count - 1, at + 10)
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return undefined
  }
}

function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    if (box.current === null) return undefined
    setWidth(box.current.clientWidth)
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)))
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [box])
  return width
}
