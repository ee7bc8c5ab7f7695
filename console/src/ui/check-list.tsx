import { useTexts } from '../i18n/i18n.tsx'
import { CheckField } from './fields.tsx'
import { Empty, Loading } from './parts.tsx'
import '../styles/evaluation.css'

type Texts = Parameters<ReturnType<typeof useTexts>['text']>[0]

interface CheckListProps {
  readonly legend: Texts
  /** Null: not loaded yet. */
  readonly choices: readonly (readonly [id: string, name: string])[] | null
  /** Shown where there is nothing to choose. */
  readonly empty: Texts
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

/** Any number of things by their names. */
export function CheckList({ legend, choices, empty, chosen, onChange }: CheckListProps) {
  const { text } = useTexts()
  return (
    <fieldset className="choices">
      <legend>{text(legend)}</legend>
      {choices === null && <Loading />}
      {choices?.length === 0 && <Empty>{text(empty)}</Empty>}
      {choices?.map(([id, name]) => (
        <CheckField
          key={id}
          label={name}
          checked={chosen.includes(id)}
          onChange={event => onChange(event.target.checked ? [...chosen, id] : chosen.filter(one => one !== id))}
        />
      ))}
    </fieldset>
  )
}
