/** The version in every policy decision; raise it when the rules change. */
export const POLICY_VERSION = '1'
