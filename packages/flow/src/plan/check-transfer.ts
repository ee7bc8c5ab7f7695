import type { Findings } from './findings.ts'
import type { Fix } from './fixes.ts'
import type { Path } from './scope.ts'
import type { Transfer } from './transfer.ts'

const BY_REFER: Transfer['transfer_option'] = {
  type: 'cold_transfer',
  cold_transfer_mode: 'sip_refer',
  show_transferee_as_caller: false,
}

/** What of a transfer does not run. `mend` makes the edit that puts other fields in its place. */
export function checkTransfer(
  { transfer_destination: to, transfer_option: option }: Transfer,
  path: Path,
  findings: Findings,
  mend: (fields: Partial<Transfer>, label: string) => Fix | undefined,
): void {
  const at = [...path, 'transfer_option']
  const byRefer = mend({ transfer_option: BY_REFER }, 'Transfer without announcement, by REFER')
  if (option.type !== 'cold_transfer')
    findings.error(
      'unsupported_capability',
      at,
      `Transfers of type "${option.type}" do not run here: use cold_transfer`,
      byRefer,
    )
  else if (option.cold_transfer_mode !== 'sip_refer')
    findings.error(
      'unsupported_capability',
      [...at, 'cold_transfer_mode'],
      'Cold transfers run by sip_refer only',
      byRefer,
    )
  else if (option.show_transferee_as_caller === true)
    findings.warning(
      'field_ignored',
      [...at, 'show_transferee_as_caller'],
      'With sip_refer the carrier chooses the caller',
      mend({ transfer_option: { ...option, show_transferee_as_caller: false } }, 'Leave it to the carrier'),
    )
  if (to.type === 'predefined' && to.extension !== undefined && to.extension !== null && to.extension !== '')
    findings.error(
      'unsupported_capability',
      [...path, 'transfer_destination', 'extension'],
      'After a REFER nobody is left to dial an extension: transfer to a number that reaches it',
      mend({ transfer_destination: { ...to, extension: null } }, 'Leave the extension out'),
    )
}
