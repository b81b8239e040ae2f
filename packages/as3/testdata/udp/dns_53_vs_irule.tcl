when CLIENT_ACCEPTED priority 500 {
    set fl_pool /t1/default_udp_app/dns_53_pool
    pool $fl_pool
}
