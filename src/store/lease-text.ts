/**
 * When a lease ends, and when it was last renewed, as statements and scripts say it: `leaseEnd` and `leaseRenewedAt` of
 * core/timers.ts over columns. Where the two say something else, a worker keeps another lease than the store.
 */
export const leaseEndText = (at: string, windowMs: string): string => `${at} + ${windowMs}`

export const leaseRenewedAtText = (expiresAt: string, windowMs: string): string => `${expiresAt} - ${windowMs}`
