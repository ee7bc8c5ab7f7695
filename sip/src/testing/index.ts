export { isDialogSnapshot } from '../dialog/dialog-snapshot.ts'
export type { LocalCertificate } from '../io/local-authority.ts'
export { parseChallenges } from '../message/auth-value.ts'
export { isInviteAttempt } from '../ua/invite-attempt.ts'
