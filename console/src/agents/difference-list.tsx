import { useTexts } from '../i18n/i18n.tsx'
import { type Difference, shownValue } from './draft-diff.ts'

const MOST = 60

/** Differences as lines: where, what was there, what is there now. */
export function DifferenceList({ differences }: { readonly differences: readonly Difference[] }) {
  const { text } = useTexts()
  if (differences.length === 0) return <p className="hint">{text('diff.none')}</p>
  return (
    <ul className="diff">
      {differences.slice(0, MOST).map(({ path, before, after }) => (
        <li key={path.join('/')}>
          <span className="code">{path.join(' › ')}</span>
          {before !== undefined && before !== '' && <del>{shownValue(before)}</del>}
          {after !== undefined && after !== '' && <ins>{shownValue(after)}</ins>}
        </li>
      ))}
      {differences.length > MOST && <li className="hint">{text('diff.more', { count: differences.length - MOST })}</li>}
    </ul>
  )
}
