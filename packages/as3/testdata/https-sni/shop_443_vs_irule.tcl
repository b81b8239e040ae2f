when HTTP_REQUEST priority 500 {
    set fl_pool /t1/default_https_app/web_8080_pool
    pool $fl_pool
}
