import { useTexts } from '../i18n/i18n.tsx'
import { Fault } from './parts.tsx'

interface FormActionsProps {
  /** On the button; default "Save". */
  readonly label?: string
  readonly isPending: boolean
  /** The last failure of the write; null or absent: none. */
  readonly error?: unknown
  /** Whether the form cannot be sent as it is; default false. */
  readonly isIncomplete?: boolean
  /** What the button looks like; default primary. */
  readonly look?: 'primary' | 'primary small' | 'small' | 'danger'
  /** Adds a button that gives the form up. */
  readonly onCancel?: () => void
}

/** The end of a form: why its last write failed, and its buttons. */
export function FormActions({
  label,
  isPending,
  error = null,
  isIncomplete = false,
  look = 'primary',
  onCancel,
}: FormActionsProps) {
  const { text } = useTexts()
  return (
    <>
      {error !== null && <Fault error={error} />}
      <div className="form-actions">
        {onCancel !== undefined && (
          <button type="button" className="button" onClick={onCancel}>
            {text('action.cancel')}
          </button>
        )}
        <button type="submit" className={`button ${look}`} disabled={isPending || isIncomplete}>
          {label ?? text('action.save')}
        </button>
      </div>
    </>
  )
}
