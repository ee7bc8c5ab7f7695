import type { PrincipalRef, Role } from '@parley/contract'
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

/** ISO time in UTC with milliseconds. */
type Instant = string

interface OfOwner {
  owner_id: Generated<string>
}

export interface MembersTable extends OfOwner {
  user_id: Generated<string>
  email: string
  email_key: GeneratedAlways<string>
  name: string | null
  role: Role
  created_at: Generated<Instant>
  last_seen_at: Instant | null
  removed_at: Instant | null
}

export interface InvitationsTable extends OfOwner {
  invitation_id: Generated<string>
  email: string
  email_key: GeneratedAlways<string>
  role: Role
  invited_by: ColumnType<PrincipalRef, string, string>
  token_hash: Buffer
  created_at: Generated<Instant>
  sent_at: Generated<Instant>
  expires_at: Instant
  accepted_at: Instant | null
  revoked_at: Instant | null
}

export interface LoginLinksTable extends OfOwner {
  token_hash: Buffer
  user_id: string
  created_at: Generated<Instant>
  expires_at: Instant
}

export interface SessionsTable extends OfOwner {
  session_id: Generated<string>
  token_hash: Buffer
  user_id: string | null
  key_id: string | null
  key_hash: Buffer | null
  created_at: Generated<Instant>
  last_used_at: Generated<Instant>
}
