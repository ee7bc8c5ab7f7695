import type { Diagnostic } from '@parley/client'
import { useTexts } from '../i18n/i18n.tsx'
import { Section } from '../ui/parts.tsx'
import { type NodePlace, placeOf } from './diagnostics.ts'
import type { OpenDraft } from './use-draft.ts'

interface ProblemProps {
  readonly open: OpenDraft
  readonly diagnostic: Diagnostic
  /** Shows the node that the diagnostic is about. */
  readonly onPlace?: (place: NodePlace) => void
}

/** One finding of the validation with the edits that mend it. */
export function Problem({ open, diagnostic, onPlace }: ProblemProps) {
  const { text } = useTexts()
  const { severity, message, path, fixes = [] } = diagnostic
  const place = placeOf(path, open.draft)
  return (
    <li className={severity}>
      <span>{message}</span>
      <span className="fixes">
        {place !== null && onPlace !== undefined && (
          <button type="button" className="button small" onClick={() => onPlace(place)}>
            {text('problem.show', { node: place.nodeId })}
          </button>
        )}
        {fixes.map(({ id, label, edits }) => (
          <button
            key={id}
            type="button"
            className="button small primary"
            disabled={open.isSaving}
            onClick={() => open.edit(edits)}
          >
            {label}
          </button>
        ))}
      </span>
    </li>
  )
}

/** Everything that the validation found. */
export function ProblemList({
  open,
  diagnostics,
  onPlace,
}: Omit<ProblemProps, 'diagnostic'> & { readonly diagnostics: readonly Diagnostic[] }) {
  const { text } = useTexts()
  return (
    <Section title={text('problem.title', { count: diagnostics.length })}>
      {diagnostics.length === 0 ? (
        <p className="hint">{text('problem.none')}</p>
      ) : (
        <ul className="diagnostics">
          {diagnostics.map(diagnostic => (
            <Problem
              key={`${diagnostic.code} ${diagnostic.path}`}
              open={open}
              diagnostic={diagnostic}
              {...(onPlace !== undefined && { onPlace })}
            />
          ))}
        </ul>
      )}
    </Section>
  )
}
