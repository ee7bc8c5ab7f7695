import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useTexts } from '../i18n/i18n.tsx'
import { useTheme } from '../shell/theme.tsx'
import { dayFormat } from './day-format.ts'

interface PlotProps {
  /** What the plot shows, for people who do not see it. */
  readonly label: string
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly values: readonly (number | null)[]
  readonly format: (value: number) => string
}

const HEIGHT = 190
/** Room for the whole first and last bar. */
const HALF_DAY_S = 43_200
/** Between two days with a label: a label in the middle of a day would name that day again. */
const DAY_STEPS_S = [1, 2, 4, 7, 10, 15, 30, 90].map(days => days * 86_400)
/** Between two labels of values: one decimal shows each of them exactly. */
const VALUE_STEPS = [
  0.1,
  0.2,
  0.5,
  ...Array.from({ length: 12 }, (_, i) => [1, 2, 5].map(step => step * 10 ** i)).flat(),
]

/** Bars over days. */
export function Plot({ label, times, values, format }: PlotProps) {
  const container = useRef<HTMLDivElement>(null)
  const { theme } = useTheme()
  const { language } = useTexts()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the colours
  useEffect(() => {
    const element = container.current
    if (element === null) return
    const style = getComputedStyle(document.documentElement)
    const colour = (name: string) => style.getPropertyValue(name).trim()
    const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } }
    const bars = UPlot.paths.bars?.({ size: [0.7, 28] })
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, drag: { setScale: false } },
        // Days are of UTC.
        tzDate: at => UPlot.tzDate(new Date(at * 1000), 'Etc/UTC'),
        scales: {
          x: { range: (_, min, max) => [min - HALF_DAY_S, max + HALF_DAY_S] },
          y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] },
        },
        axes: [
          { ...axis, incrs: DAY_STEPS_S, values: (_, ticks) => ticks.map(dayFormat(language)) },
          { ...axis, size: 64, incrs: VALUE_STEPS, values: (_, ticks) => ticks.map(format) },
        ],
        series: [
          {},
          {
            stroke: colour('--agent'),
            fill: colour('--agent-soft'),
            width: 1,
            ...(bars !== undefined && { paths: bars }),
            points: { show: false },
          },
        ],
      },
      [[...times], [...values]],
      element,
    )
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [times, values, format, theme, language])
  return <div ref={container} className="plot" role="img" aria-label={label} />
}
