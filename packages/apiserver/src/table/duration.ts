// Ages as `kubectl` prints them: two units at most, fewer as they grow.

/** The time between an RFC 3339 `since` and `now` (ms since the epoch); `<unknown>` where there is none. */
export function age(since: unknown, now: number): string {
  const start = typeof since === 'string' ? Date.parse(since) : Number.NaN;
  return Number.isNaN(start) ? '<unknown>' : duration(now - start);
}

/*
   up to        shown as
   -----------+-----------
   2 min      | seconds
   10 min     | 5m30s
   3 h        | minutes
   8 h        | 5h30m
   48 h       | hours
   8 days     | 5d6h
   2 years    | days
   8 years    | 5y20d, above that years
*/
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return both(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return both(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return both(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? both(years, 'y', days % 365, 'd') : `${years}y`;
}

const both = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
